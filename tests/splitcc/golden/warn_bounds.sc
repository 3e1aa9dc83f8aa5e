int A[10]::;
int B[4][3]::[2];
int n;
int f(int v, int P[v]::)
{
    int *global end = &A[10];

    A[10] = 1;
    B[1][3][0] += 2;
    B[4][0][1]++;
    n = A[11];
    A[9] = B[3][2][5 - 4];
    return P[10] + (end == &A[10]);
}
int wraps(void) { return A[(unsigned)-1 % 4] + A[-1u % 10]; }
