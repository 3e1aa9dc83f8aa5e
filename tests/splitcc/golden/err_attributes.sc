int x;
static __thread int *global begun = &x;
__thread int A[4]::;
_Alignas(64) int B[4]::;
__attribute__((unused, aligned(64))) int C[4]::, D[2]:: __attribute__((__section__(".own")));
typedef int E[4]:: __attribute__((aligned(64)));
int *global __attribute__((aligned(64))) F[4];
int *global G[4] __attribute__((aligned(64)));
void f(void) { int H[4]::, __attribute__((packed)) I[4]::; }
