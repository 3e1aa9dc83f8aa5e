int x, a[3];
struct s { int n; int *global p[2]; } one = { 1, { &x, a + 2 } }, *of = &(struct s){ 0 };
struct { struct s s; union { int *global u; } v[2]; char *global name; } many[] = {
    { { 1, { &x } }, { { 0 }, { a } }, "text" },
    3, 0, &x, &x, 0, (char *global)"more" };
static int *global g = &x, *h = &x;
extern int *global none;
int *global *next(int *p)
{
    static int *global mine = &a[1], count = 0;
    int *global here = p;
    return &mine;
}
struct { int a[2]; int *global g[2]; } flat = { 1, 2, &x, 0 }, named[3] = { [1].g[1] = &x, [2] = { g: { [0 ... 1] = a } } };
const struct { int n; int *global g; } fixed = { 1, &x };
extern int *global const later;
int *global const later = (int *global) &x;
