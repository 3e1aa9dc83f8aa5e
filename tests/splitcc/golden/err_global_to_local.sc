void f(int *global g)
{
    int *p;
    p = g;
}
