g();
int h(const char *, ...);
f(s, p) int *spread s; int *global p;
{
    int A[4]::[2];
    g(s, p, A, A[1], *p, s[2], 0);
    h("%p %d", p, s[1]);
    undeclared(A, &A[1][1]);
    return (*(int (*)())g)(s);
}
int local, *spread many;
int *global answer(p, n, s) int *global p; int n, *spread s; { return p + n; }
calls(a) int *a;
{
    int *global answer();
    answer(&local, 1, 0);
    answer(a, local, many);
    later(&local, a + 1, 0);
    later((int *)0, a, *answer(a, 0, 0));
    even_later(a, 1);
}
later(g, l, h) int *global g, *l; int *global h; { return *g + *l; }
void even_later(int *global p, int n) { *p = n; }
