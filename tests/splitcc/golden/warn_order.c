# 1 "warn_order.sc"
int f( vsc_word g, vsc_word h, vsc_word s, int *p, vsc_word A)
{
    int n = (( g) < ( h));
    n += (( g) < ( vsc_global((p))));
    n += (( vsc_toglobal(1,  p)) <= ( vsc_toglobal(2,  p)));
    n += (( vsc_toglobal(1,  p)) <= ( vsc_toglobal(1,  p + 1)));
    n += (( vsc_add( vsc_spread_add(A, (long)(1), ((unsigned long)( 2) * sizeof(int))), (long)(0) * (long)(sizeof(int)))) > ( vsc_add( vsc_spread_add(A, (long)(2), ((unsigned long)( 2) * sizeof(int))), (long)(0) * (long)(sizeof(int)))));
    n += (vsc_spread_rank( s) < vsc_spread_rank( vsc_spread_add( s, (long)( 1), sizeof(int))));
    n += (( s) < ( g));
    n += (vsc_spread_rank( vsc_spread_add(A, (long)(1), ((unsigned long)( 2) * sizeof(int)))) < vsc_spread_rank( vsc_spread_add(A, (long)(2), ((unsigned long)( 2) * sizeof(int)))));
    return n;
}
# 1 "<splitcc>"
