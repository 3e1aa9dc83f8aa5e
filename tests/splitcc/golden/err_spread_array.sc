struct s { int A[4]::; };
int B[]::;
typedef int many[4]::[2];
int bad()::;
int C[3]::[] = { 0 };
void f(int n)
{
    static int D[n]::;
    int E[4]::, *F;
    E = 0;
    F = &E;
    return sizeof E;
}
