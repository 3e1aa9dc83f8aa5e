main_count;
static k(), *l();
extern inline twice(x) { return 2 * x; }
inline int thrice(int x) { return 3 * x; }
register_keeper(a, b, c, d)
register a;
char *b, c;
{
    register i;
    auto j = 3;
    static n;
    return twice(a) + *b + c + d + i + j + n;
}
k() { return; }
int *l() { return 0; }
int i, i, i;
splitc_main(argc, argv) char **argv;
{
}
structures(a, b, c)
struct { int x; } *global a, *b;
struct two { int y; } *c;
{ return a->x + b->x + c->y; }
