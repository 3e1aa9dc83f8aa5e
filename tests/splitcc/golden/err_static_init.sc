int x, A[3]::;
int *global g = toglobal(1, &x);
int *spread s = A;
int *global e = &A[1];
struct { int n; int *global p; } d[3] = { [1] = { 1, &x } };
