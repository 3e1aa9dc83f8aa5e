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
  int  local; vsc_word many;
 vsc_word answer ( p , n , s ) vsc_word p;  int  n; vsc_word s; { return vsc_add( p, (long)( n) * (long)(sizeof(int))); }
int later(); void even_later();  calls(a) int *a;
{
 vsc_word answer ( );
    answer( vsc_global(&local), 1, 0UL);
    answer( vsc_global(a), local, many);
    later(vsc_global( &local), a + 1, (vsc_word)( 0));
    later(vsc_global( (int *)0), a, ((int)vsc_read4((answer( vsc_global(a), 0, 0UL)))));
    even_later(vsc_global( a), 1);
}
later(g, l, h) vsc_word g;  int  *l; vsc_word h; { return ((int)vsc_read4((g))) + *l; }
void even_later( vsc_word p, int n) { vsc_write4((p), (int)( n)); }
# 1 "<splitcc>"
