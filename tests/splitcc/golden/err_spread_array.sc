struct s { int A[4]::; };
int B[]::;
int n;
typedef int many[n]::[2];
int bad()::;
int C[3]::[] = { 0 };
void f(int n)
{
    static int D[n]::;
    int E[4]::, *F;
    E = 0;
    F = &E;
    E[0] = *(&E + 1);
    return sizeof E;
}
