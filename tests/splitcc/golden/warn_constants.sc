#define PROCS __splitc_procs
enum { first = 3, second, last = second * 2 + 1, unknown = (char)300 };
int A[9]::[4], B[PROCS]::, C[2 * PROCS]::, *D[2]::;
struct tail { int n, data[1]; } E[4]::;
int wrong(int P[4]::)
{
    int local[20];
    A[last][0] = A[-1][first - 4];
    A[0x9][1]++;
    A[sizeof(local) / sizeof local[0]][second] += 1;
    A[1 << 4][last > 8 ? 1 : 0] := 3;
    A['0'][0] :- A[first][~0];
    local[1] := A[9 % 10][0];
    B[PROCS] = B[PROCS + 1];
    C[PROCS * 2] = C[3 * PROCS - 1];
    *D[2] = P[second];
    return B[-PROCS];
}
int right(int P[4]::)
{
    int *global end = &A[last][0], n = sizeof A[last];
    A[last - 1][first] = A[unknown][0] + A[1 / (first - 3)][0];
    B[PROCS - 1] = B[3] + B[PROCS / 2] + B[0];
    C[2 * PROCS - 1] = C[PROCS] + C[PROCS + 1];
    E[3].data[5] = P[-1];
    return (&A[0][0])[12] + (A[1] + 1)[3] + n + (end == 0);
}
