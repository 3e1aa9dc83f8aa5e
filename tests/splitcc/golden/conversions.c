# 1 "conversions.sc"
void takes( vsc_word v, vsc_word g, vsc_word s);
 vsc_word gives ( int * p , vsc_word s , int which )
{
 typedef char vsc_g38[vsc_procs()] __attribute__((__unused__)); vsc_word A __attribute__((__cleanup__(vsc_auto_free))) = vsc_auto_spread((unsigned long)( 9), sizeof(int), "A", "conversions.sc", 4); typedef char vsc_g44[vsc_procs()] __attribute__((__unused__)); vsc_word B __attribute__((__cleanup__(vsc_auto_free))) = vsc_auto_spread((unsigned long)( 9), ((unsigned long)( 4) * sizeof(int)), "B", "conversions.sc", 4);
    takes( vsc_spread_add(B, (long)(1), ((unsigned long)( 4) * sizeof(int))), vsc_add( vsc_spread_add(B, (long)(1), ((unsigned long)( 4) * sizeof(int))), (long)(2) * (long)(sizeof(int))), A);
    takes(A, vsc_global( p), vsc_spread_add(A, (long)(2), sizeof(int)));
    takes( vsc_global(p), vsc_spread_add( B, (long)(3), ((unsigned long)( 4) * sizeof(int))), s);
    takes( 0UL, 0UL, 0UL);
    if ( (vsc_equal(A,  s)) || (vsc_equal( s,  A))) return vsc_spread_add( A, (long)( 1), sizeof(int));
    if (which) return vsc_global( p);
    return which > 2 ? s : 0UL;
}
enum { NONE, SOME };
int zeros( vsc_word g, vsc_word s)
{
 vsc_word h =  0UL;
    s = 0UL;
    takes( 0UL, 0UL, 0UL);
    return (vsc_is( g)) && (!vsc_is( s));
}
# 1 "<splitcc>"
