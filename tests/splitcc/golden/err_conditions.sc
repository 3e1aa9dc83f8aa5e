struct s { int a; } s;
void nothing(void);
void f(int *global g, double *spread d)
{
    if (s) while (nothing()) ;
    g + d;
    g * 2;
    d << 1;
    (double)g;
    g[d] = *d[1.5];
    g();
    -g;
    1 ?: g;
}
