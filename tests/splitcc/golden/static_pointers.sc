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
