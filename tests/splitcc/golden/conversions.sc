void takes(void *global v, int *global g, int *spread s);
int *global gives(int *p, int *spread s, int which)
{
    int A[9]::, B[9]::[4];
    takes(B[1], &B[1][2], A);
    takes(A, p, &A[2]);
    takes(p, B[3], s);
    takes(0, (void *)0, 0);
    if (A == s || s == A) return A + 1;
    if (which) return p;
    return which > 2 ? s : 0;
}
enum { NONE, SOME };
int zeros(int *global g, int *spread s)
{
    int *global h = NONE;
    s = '\0';
    takes(NONE, '\0', 0);
    return g != '\0' && s == NONE;
}
