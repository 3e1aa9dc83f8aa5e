int n;
int A[100]::;
static double B[10]::[4];
extern int C[]::[7];
float D[3][5]::[2][2], plain;
int tables(int v, int w)
{
    static int kept[12]::;
    int i = 3, V[v]::, W[v][w]::[i], x;
    double *spread s = 0, *global g;
    kept[i] = A[7] + V[i] + W[1][2][0];
    g = B[i], g = &B[i][1];
    s = &B[2][0];
    x = D[1][i][0][1] = C[2][6];
    for (i = 0; i < 3; i++) {
        int inner[i + 1]::;
        if (i == 2) break;
        inner[0] = i;
    }
    return sizeof A[0] + sizeof B[1];
}
