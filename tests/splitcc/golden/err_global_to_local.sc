void f(int *global g)
{
    int *p;
    p = g;
}
copies(int *global p, int *spread s) { memcpy(p, s, 4); return undeclared(p, s); }
