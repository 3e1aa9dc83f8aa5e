# 1 "late_bounds.sc"
void f(int m)
{
    int q, r;
 vsc_word X;
    q = m, r = 2 * m;
 vsc_write_d( vsc_add( vsc_add( vsc_spread_add( X, (long)(3), ((unsigned long)( q) * (unsigned long)( r) * sizeof(double))), (long)(1) * (long)(((unsigned long)( r) * sizeof(double)))), (long)(m) * (long)(sizeof(double))), (double)( 1.5));
 ( X = vsc_spread_add( X, 1L, ((unsigned long)( q) * (unsigned long)( r) * sizeof(double))));
}
# 1 "<splitcc>"
