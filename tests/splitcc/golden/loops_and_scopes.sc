int f(int n)
{
    int i;
    for (i = 0; i < n; i++) {
        int A[n]::[2];
        if (i == 3) continue;
        if (i == 4) goto out;
        if (i == 5) return A[0][1];
    }
    do {
        double B[n]::;
        B[0] = i;
    } while (--i);
out:
    return 0;
}
