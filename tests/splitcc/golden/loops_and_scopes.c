# 1 "loops_and_scopes.sc"
int f(int n)
{
    int i;
    for (i = 0; i < n; i++) {
 const unsigned long vsc_n1 = (unsigned long)( n); typedef char vsc_g25[vsc_procs()] __attribute__((__unused__)); vsc_word A __attribute__((__cleanup__(vsc_auto_free))) = vsc_auto_spread(vsc_n1, ((unsigned long)( 2) * sizeof(int)), "A", "loops_and_scopes.sc", 5);
        if (i == 3) continue;
        if (i == 4) goto out;
        if (i == 5) return ((int)vsc_read4( vsc_add( vsc_spread_add( A, (long)(0), ((unsigned long)( 2) * sizeof(int))), (long)(1) * (long)(sizeof(int)))));
    }
    do {
 const unsigned long vsc_n3 = (unsigned long)( n); typedef char vsc_g70[vsc_procs()] __attribute__((__unused__)); vsc_word B __attribute__((__cleanup__(vsc_auto_free))) = vsc_auto_spread(vsc_n3, sizeof(double), "B", "loops_and_scopes.sc", 11);
 vsc_write_d( vsc_spread_add( B, (long)(0), sizeof(double)), (double)( i));
    } while (--i);
out:
    return 0;
}
# 1 "<splitcc>"
