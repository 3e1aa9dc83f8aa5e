typedef struct { int *global p; int n; double *spread s[2]; } cell;
int here; double *spread other;
int *global none = 0;
cell zero, zeros[2] = { { 0, 1, { 0, 0 } } };
void f(int *global g, int *p)
{
    cell a = { p, 2, { other, 0 } };
    cell b = { .n = 1, .p = g, .s = { other } };
    cell c = { &here, 3, other, 0 };
    cell many[] = { { p }, { &here, 1 } };
    int *global list[3] = { p, g, &g[1] }, *global one = p;
    int plain[2] = { *g, g[1] };
    struct { cell inner; int k; } d = { { p, 1 }, *g };
    a = (cell) { p, 4 };
}
