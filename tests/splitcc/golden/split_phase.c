# 1 "split_phase.sc"
struct point { double x, y; } here;
int i, *local; double d; char c; vsc_word q;
void f( vsc_word g, vsc_word s, vsc_word gp, vsc_word gg, vsc_word sc)
{
     int r;
 vsc_get4(&( i), (g));
 vsc_get8(&( d),  vsc_spread_add( s, (long)(3), sizeof(double)));
 vsc_get(&( here), (gp), sizeof(struct point));
 vsc_get8(&( q), (gg));
 vsc_get4(&( local[i + 1]),  vsc_add( g, (long)(2) * (long)(sizeof(int))));
 vsc_get4(&( r),  vsc_add( g, (long)(1) * (long)(sizeof(int))));
 vsc_put4((g), (int)( i + 1));
 vsc_put_d( vsc_spread_add( s, (long)(i), sizeof(double)), (double)( d * 2));
 ({ struct point vsc_t9 =  here; vsc_put((gp), &vsc_t9, sizeof vsc_t9); });
 vsc_put8((gg),  g);
 vsc_store4((g), (int)( i));
 vsc_store_d( vsc_spread_add( s, (long)(i++), sizeof(double)), (double)( d + 1)), vsc_store1( vsc_spread_add( sc, (long)(2), sizeof(char)), (char)( 'x'));
 ({ struct point vsc_t14 =  here; vsc_store((gp), &vsc_t14, sizeof vsc_t14); });
 vsc_store8((gg),  g);
 vsc_put4( vsc_add( g, (long)(1) * (long)(sizeof(int))), (int)( ((int)vsc_read4( vsc_add( g, (long)(2) * (long)(sizeof(int)))))));
}
# 1 "<splitcc>"
