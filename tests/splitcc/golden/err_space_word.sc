global int *a;
struct s { spread int *x; int global *y; struct s global *z; };
typedef unsigned long word;
word global *w, *v;
extern spread struct t { int n; } *t;
int f(global int *p, const int spread *q)
{
    global double *d;
    int global = 3;

    a = p;
    return *a + global + *(spread int *)q;
}
global *h;
