struct a { int x; } one;
struct b { int x; } other;
void f(struct a *global g, struct b *p)
{
    one = other;
    *g = *p;
    g->y = one.z;
    one = 3;
    one.x.y = *one;
}
