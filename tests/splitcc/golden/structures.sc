struct point { double x, y; int corners[4]; struct { int deep; } inner; unsigned bits : 3; };
struct point here;
typedef struct { struct point *global at; int n; } cell;
cell one = { 0, 4 }, all[2] = { { 0 }, { 0, 1 } };
void f(struct point *global g, cell *spread cells, int i)
{
    struct point copy;
    int *global corner;
    copy = *g;
    g[1] = here;
    *g = g[2];
    corner = g->corners;
    corner = &g->corners[i];
    i = g->inner.deep + g->bits;
    cells[i].at->inner.deep = 7;
    g = cells[i].at = &here;
    cells[1] = cells[2];
}
struct { int n; int f[4]; } *global unnamed; typedef union { int n; } *spread unnamed_type;
