struct pair { int a, b; };
static int add(int *p, int by) { return *p += by; }
void clear(struct pair *p) { p->a = p->b = 0; }
double scale(p, by) double *p; float by; { return *p *= by; }
void any(p, by) void *p; int by; { }
void point(int *p, int by, int *global to) { }
int f(int *global g, struct pair *spread s, double *global d, int i)
{
    atomic(clear, s);
    atomic(clear, &s[2]);
    i = atomic(add, g, 3) + atomic(add, s[1].a, i);
    atomic(point, g, 1, &i);
    atomic(any, d, i + 2.5);
    atomic(any, d, 2 * i + 3L);
    atomic(any, g, g - (int *global)d);
    return atomic(scale, d, 2.5) > 1;
}
