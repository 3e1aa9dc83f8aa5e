char *p; int i, j; void *v;
struct s { int *q; } t;
void f(int *global g)
{
    *((int *)p)++ = *g;
    (int *)v = &i;
    ((char *)t.q) += 3;
    (i ? i : j) = *g;
    (i++, j) = 1;
    (char) i += 2;
    ((short) *g)++;
    (i ? *g : g[1]) = 3;
}
