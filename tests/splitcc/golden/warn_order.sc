int f(int *global g, int *global h, int *spread s, int *p, int A[10]::[2])
{
    int n = g < h;
    n += g < (int *global)p;
    n += toglobal(1, p) <= toglobal(2, p);
    n += toglobal(1, p) <= toglobal(1, p + 1);
    n += &A[1][0] > &A[2][0];
    n += s < s + 1;
    n += s < g;
    n += &A[1] < &A[2];
    return n;
}
