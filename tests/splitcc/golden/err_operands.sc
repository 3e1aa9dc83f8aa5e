struct s { int a; } v, w;
f(int *global g, int *global h, double d, int n, int *p, int *spread s)
{
    g + h;
    g + p;
    n - g;
    g + d;
    g * 2;
    g & 7;
    g == 5;
    p == 2.5;
    v == w;
    v + n;
    d % 2;
    n << d;
    g += h;
    g += d;
    n *= g;
    d |= 1;
    p - d;
    p + p;
}
