# 1 "unprototyped.sc"
g();
int h(const char *, ...);
f(s, p) vsc_word s; vsc_word p;
{
 typedef char vsc_g32[vsc_procs()] __attribute__((__unused__)); vsc_word A __attribute__((__cleanup__(vsc_auto_free))) = vsc_auto_spread((unsigned long)( 4), ((unsigned long)( 2) * sizeof(int)), "A", "unprototyped.sc", 5);
    g(s, p, A, vsc_spread_add( A, (long)(1), ((unsigned long)( 2) * sizeof(int))), ((int)vsc_read4((p))), ((int)vsc_read4( vsc_spread_add( s, (long)(2), sizeof(int)))), 0);
    h("%p %d", p, ((int)vsc_read4( vsc_spread_add( s, (long)(1), sizeof(int)))));
    undeclared(A, vsc_add( vsc_spread_add(A, (long)(1), ((unsigned long)( 2) * sizeof(int))), (long)(1) * (long)(sizeof(int))));
    return (*(int (*)())g)(s);
}
# 1 "<splitcc>"
