void f(int *global g, double *p)
{
    double d;
    d := *g;
    g := *g;
    *p := d;
    *g := 3;
}
