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
