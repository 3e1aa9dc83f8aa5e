# 1 "old_c.sc"
main_count;
static k(), *l();
static inline twice(x) { return 2 * x; }
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
return 0; }
structures(a, b, c)
 __typeof__(sizeof( struct  vsc_tag1 { int x ; })) a;  struct vsc_tag1   *b;
struct two { int y; } *c;
{ return ((int)vsc_read4( ( a + __builtin_offsetof(struct vsc_tag1, x)))) + b->x + c->y; }
# 1 "<splitcc>"
int vsc_main(int vsc_argc, char **vsc_argv) {
  (void)vsc_argc, (void)vsc_argv;
  return splitc_main((int)vsc_argc, (void *)vsc_argv);
}
