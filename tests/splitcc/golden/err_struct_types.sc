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
struct c { int x; struct c *next, itself, many[3]; };
struct d { void nothing; struct e { struct d outer; } inner; };
void walked(struct c *global g, struct d *global h)
{
    *g = *(g + 1);
    *h = *(h + 1);
}
