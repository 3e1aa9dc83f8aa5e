# 1 "warn_jumps.sc"
int use(int n)
{
    void *to[3];
    to[0] = &&inside, to[1] = &&behind, to[2] = &&behind;
    {
 const unsigned long vsc_n1 = (unsigned long)( n); typedef char vsc_g40[vsc_procs()] __attribute__((__unused__)); vsc_word T __attribute__((__cleanup__(vsc_auto_free))) = vsc_auto_spread(vsc_n1, sizeof(int), "T", "warn_jumps.sc", 6);
 vsc_write4( vsc_spread_add( T, (long)(0), sizeof(int)), (int)( n));
        goto *to[n];
inside:
        n++;
        goto behind;
    }
behind:
    return n;
}

int stay(int n)
{
    void *to[2];
 const unsigned long vsc_n3 = (unsigned long)( n); typedef char vsc_g90[vsc_procs()] __attribute__((__unused__)); vsc_word T __attribute__((__cleanup__(vsc_auto_free))) = vsc_auto_spread(vsc_n3, sizeof(int), "T", "warn_jumps.sc", 20);
    to[0] = &&one, to[1] = &&two;
    if (n < 2) goto *to[n];
one:
    n = ((int)vsc_read4( vsc_spread_add( T, (long)(0), sizeof(int))));
two:
    { const unsigned long vsc_n5 = (unsigned long)( n); typedef char vsc_g138[vsc_procs()] __attribute__((__unused__)); vsc_word U __attribute__((__cleanup__(vsc_auto_free))) = vsc_auto_spread(vsc_n5, sizeof(int), "U", "warn_jumps.sc", 26); vsc_write4( vsc_spread_add( U, (long)(0), sizeof(int)), (int)( 1)); }
    return n;
}

int nested(int n)
{
    __label__ out;
    void leave(void) { const unsigned long vsc_n7 = (unsigned long)( n); typedef char vsc_g173[vsc_procs()] __attribute__((__unused__)); vsc_word own __attribute__((__cleanup__(vsc_auto_free))) = vsc_auto_spread(vsc_n7, sizeof(int), "own", "warn_jumps.sc", 33); vsc_write4( vsc_spread_add( own, (long)(0), sizeof(int)), (int)( 1)); goto out; }
    void part(void) { if (n == 1) goto end; n = 1; end: n++; }
    void not_here(void) { goto out; }
    {
 const unsigned long vsc_n9 = (unsigned long)( n); typedef char vsc_g227[vsc_procs()] __attribute__((__unused__)); vsc_word T __attribute__((__cleanup__(vsc_auto_free))) = vsc_auto_spread(vsc_n9, sizeof(int), "T", "warn_jumps.sc", 37);
 vsc_write4( vsc_spread_add( T, (long)(0), sizeof(int)), (int)( n));
        part();
        if (n > 2) leave();
    }
    not_here();
out:
    return n;
}

int called(int n)
{
    __label__ out;
    void leave(void) { goto out; }
    {
 const unsigned long vsc_n11 = (unsigned long)( n); typedef char vsc_g287[vsc_procs()] __attribute__((__unused__)); vsc_word T __attribute__((__cleanup__(vsc_auto_free))) = vsc_auto_spread(vsc_n11, sizeof(int), "T", "warn_jumps.sc", 52);
 vsc_write4( vsc_spread_add( T, (long)(0), sizeof(int)), (int)( n));
        leave();
    }
out:
    return n;
}
# 1 "<splitcc>"
