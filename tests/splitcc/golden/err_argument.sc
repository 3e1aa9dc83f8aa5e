void takes(int *p, double d);
void f(int *global g)
{
    takes(g, 1.0);
    takes(0);
}
