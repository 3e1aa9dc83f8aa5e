void f(int m)
{
    int q, r;
    double (*spread X)[q][r];
    q = m, r = 2 * m;
    X[3][1][m] = 1.5;
    X++;
}
