void f(int *p, int i, int *global g)
{
    tolocal(p), tolocal(i);
    toproc(p);
    toglobal(p, 1);
    toglobal(1);
    g = toglobal(1, g);
}
