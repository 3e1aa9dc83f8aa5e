int here[4];
void f(int *global g, int *spread s, void *global v, unsigned long w)
{
    int *p;
    double *spread d;
    g = here, v = here, g = (int *global)p;
    s = (int *spread)&here[1];
    p = (int *)g, p = (int *)(s + 2);
    g = (int *global)s, s = (int *spread)g, v = s;
    d = (double *spread)s;
    w = (unsigned long)g;
    g = (int *global)w;
    g = (int *global)0;
    p = tolocal(g), p = tolocal(s), p = tolocal(s[1]);
    w = toproc(g) + toproc(s + 3) + toproc(*s);
    g = toglobal(2, p);
    g = toglobal(w, &here[2]);
    (void)g;
}
