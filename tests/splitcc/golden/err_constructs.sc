int A[10]::;
int global *g;
f()
{
    forall (i = 0; i < 10; i++) { A[i] = 0; }
    forall (i = 0; i < 10; i++) A[i] = 0;
    splitphase { A[1] = 2; }
    for_my_3D(i, j, k, 4) { A[i] = 1; }
    while (A[1] forever;
    A[1] <- 3;
    A[1] = undeclared(2, (3));
}
