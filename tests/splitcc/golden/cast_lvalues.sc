char *p; int i, j; void *v;
struct s { int *q; } t;
void f(int *global g)
{
    *((int *)p)++ = *g;
    (int *)v = &i;
    ((char *)t.q) += 3;
    (i ? i : j) = *g;
}
