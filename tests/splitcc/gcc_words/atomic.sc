#include <split-c/split-c.h>
struct big { char c[64]; int n; };
struct middle { char c[24]; };
void take(int *p, struct big b, int k) { *p = b.n + k; }
void pair(int *p, struct middle a, struct middle b) { *p = a.c[0] + b.c[0]; }
void old(p, a, b) int *p; struct middle a, b; { *p = a.c[0] + b.c[0]; }
void three(int *p, long double a, long double b, long double c) { *p = a + b + c; }
void right(int *p, struct middle a, int k) { *p = a.c[0] + k; }
struct big gives(int *p) { struct big b; b.n = *p; return b; }
struct middle fits(int *p) { struct middle m; m.c[0] = *p; return m; }
void f(int *global g)
{
    struct big b;
    struct middle m;
    b.n = m.c[0] = 1;
    atomic(take, g, b, 3);
    atomic(pair, g, m, m);
    atomic(old, g, m, m);
    atomic(three, g, 1, 2, 3);
    atomic(right, g, m, 1);
    m = atomic(fits, g);
    b = atomic(gives, g);
    atomic(gives, g);
}
