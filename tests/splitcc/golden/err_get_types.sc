void f(int *global g, double *p)
{
    double d;
    d := *g;
    *p := d;
    *g := 3;
}
