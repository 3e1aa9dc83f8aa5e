# 1 "arithmetic.sc"
int f( vsc_word g, vsc_word s, int i, unsigned u, long l, int *p, vsc_word v)
{
    g = vsc_add( g, (long)( i) * (long)(sizeof(int))), g = vsc_add( g, (long)( i) * (long)(sizeof(int))), g = vsc_add( g, -(long)( u) * (long)(sizeof(int)));
    s = vsc_spread_add( s, (long)( l), sizeof(int)), s = vsc_spread_add( s, -(long)( i), sizeof(int)), s = vsc_spread_add( s, (long)( 1), sizeof(int));
    v = vsc_add( v, (long)( 1) * (long)(1UL));
    l = vsc_difference( g,  vsc_add(g, (long)(3) * (long)(sizeof(int))), sizeof(int));
    l = vsc_spread_difference( s,  ( vsc_spread_add(s, (long)( 2), sizeof(int))), sizeof(int));
    if ( (!vsc_is(g)) || (vsc_is( s)) || ! vsc_is(g) || vsc_is( s) && vsc_is( g)) return (vsc_equal( g,  vsc_global( p)));
    if ( (vsc_equal(g,  s))) return (vsc_spread_rank( s) < vsc_spread_rank( vsc_spread_add( s, (long)( 1), sizeof(int))));
    while ( vsc_is(g)) g = i ? g : 0UL;
    g = i ? vsc_global( p) : g;
    return (!vsc_equal( g,  vsc_global( p))) ? (( g) <= ( vsc_add( g, (long)( 1) * (long)(sizeof(int))))) : ! vsc_is(s);
}
# 1 "<splitcc>"
