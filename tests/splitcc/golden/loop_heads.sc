/* splitcc -std=gnu99 */
int A[4]::;
int f(void)
{
    int r = 0;
    for (int *global h = &A[0], i = 0; i < 3; i++) r += *h;
    for (int *global h = &A[0]; h != 0; h++) r++;
    if (r) for (int i = 0, *spread s = A; i < 3; i++) { if (s[i]) continue; break; } else r = 1;
    for (struct { int k; } one, *global g = &one; g->k; )
        for (int i = 0, j = A[1]; i < j; i++) for (int B[2]::; i < 5; i++) B[1] = i;
    return r;
}
