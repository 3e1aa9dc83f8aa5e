typedef int numbers[__splitc_procs]::;
typedef struct { int i; } blocks[2][__splitc_procs * 3]::[4];
numbers A, B;
static blocks C;
extern numbers D;
int sum(numbers n, int v) { return n[v] + A[v]; }
f(b) blocks b;
{
    numbers own;
    int *spread s = &own;
    bulk(&A, &C, &C[1], s == &own);
    return b[1][2][3].i + sum(own, 1);
}
