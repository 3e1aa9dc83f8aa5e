enum { ROWS = 4, COLUMNS = 1 << 2 };
double M[8]::[ROWS + 1];
int f(double (*spread s)[ROWS], int (*global g)[COLUMNS][2 * sizeof(int)])
{
    int ROWS = 1;
    enum { COLUMNS = 2 };
    s++;
    s[0][1] = ROWS + COLUMNS;
    return s[1][0] + g[1][0][0] + M[1][0];
}
