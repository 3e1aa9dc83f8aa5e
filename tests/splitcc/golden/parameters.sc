int *spread f(int n, int *global p, double A[n]::[n][3], float (*spread X)[n]);
int *spread f(n, p, A, X)
int n, *global p;
double A[n]::[n][3];
float (*spread X)[n];
{
    n = n + 1;
    A[2][1][0] = X[4][1];
    return (int *spread) p;
}
int moved(int n, const int P[n]::, float Q[2][n]::[n][2], int *spread s)
{
    P += n - 1, --Q, (P)++;
    P = n ? P : s;
    Q[1][2][0][1] = *P++ + P[2];
    return sizeof P + (P > s ? sizeof(Q) : sizeof *Q);
}
int unnamed(int n, int []::, int [n]::[2], void *global);
void calls(int *spread s, double A[7]::[7][3])
{
    float (*spread X)[7] = 0;
    unnamed(3, s, s, A);
    f(7, s, A, X);
}
