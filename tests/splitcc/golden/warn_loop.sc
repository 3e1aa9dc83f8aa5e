int f(int *global g, int *spread s, int A[10]::[8], double *to) /* splitcc -Wremote-loop */
{
    int i, j, sum = 0;
    for (i = 0; i < 8; i++) sum += g[i];
    for (i = 0; i < 8; i++) sum += s[i];
    for (i = 0; i < 10; i++)
        for (j = 0; j < 8; j++) A[i][j] = *(g + i + j);
    for (i = 0; i < 8; i++) g[2 * i] = sum;
    for (i = 0; i < 8; i++) g[i] :- sum;
    for (i = 0; i < 8; i += 2) sum += g[i];
    return sum;
}
