# 1 "updates.sc"
int i; double d; char *text;
struct s { vsc_word p; } here, *to = &here;
void f( vsc_word g, vsc_word s, vsc_word sd, vsc_word gt, vsc_word gs, vsc_word w)
{
 ({ vsc_word vsc_p1 = (g); vsc_write4(vsc_p1, (int)((int)vsc_read4(vsc_p1) + ( 3))); }), ({ vsc_word vsc_p2 = (g); int vsc_o2 = (int)vsc_read4(vsc_p2); vsc_write4(vsc_p2, (int)(vsc_o2 + 1)); }), ({ vsc_word vsc_p3 = (g); int vsc_o3 = (int)vsc_read4(vsc_p3); vsc_write4(vsc_p3, (int)(vsc_o3 - 1)); });
    i = ({ vsc_word vsc_p4 = (g); int vsc_o4 = (int)vsc_read4(vsc_p4); vsc_write4(vsc_p4, (int)(vsc_o4 + 1)); vsc_o4; }) + ({ vsc_word vsc_p5 = (g); int vsc_o5 = (int)vsc_read4(vsc_p5); (int)vsc_write4(vsc_p5, (int)(vsc_o5 + 1)); });
    i = ( ({ vsc_word vsc_p6 =  vsc_spread_add(s, (long)(1), sizeof(int)); (int)vsc_write4(vsc_p6, (int)((int)vsc_read4(vsc_p6) << ( 2))); }));
 ({ vsc_word vsc_p7 =  vsc_spread_add( sd, (long)(i), sizeof(double)); vsc_write_d(vsc_p7, (double)(vsc_read_d(vsc_p7) * ( i))); });
    d = ( ({ vsc_word vsc_p8 = (sd); vsc_write_d(vsc_p8, (double)(vsc_read_d(vsc_p8) - ( 0.5))); }));
 ( g = vsc_add( g, 1L * (long)(sizeof(int)))), ( s = vsc_spread_add( s, 1L, sizeof(int))), ( s = vsc_spread_add( s, -(long)( 2), sizeof(int))), ( g = vsc_add( g, (long)( i) * (long)(sizeof(int))));
    i = ((int)vsc_read4(( ({ vsc_word vsc_o13 =  g;  g = vsc_add( g, 1L * (long)(sizeof(int))); vsc_o13; })))) + ((int)vsc_read4(( ( s = vsc_spread_add( s, -1L, sizeof(int))))));
 ({ vsc_word *vsc_p17 = &( to->p), vsc_o17 = *vsc_p17; *vsc_p17 = vsc_spread_add(vsc_o17, 1L, sizeof(int)); *vsc_p17; });
    s = ({ vsc_word *vsc_p18 = &( to->p); *vsc_p18 = vsc_spread_add(*vsc_p18, (long)( 2), sizeof(int)); });
 ({ vsc_word vsc_p19 = (gt); char *vsc_o19 = (char *)vsc_read8(vsc_p19); vsc_write8(vsc_p19, (unsigned long)(vsc_o19 + 1L)); });
    text = ({ vsc_word vsc_p20 = (gt); (char *)vsc_write8(vsc_p20, (unsigned long)((char *)vsc_read8(vsc_p20) + ( 2))); });
 ({ vsc_word vsc_p21 = (gs); vsc_write8(vsc_p21, vsc_spread_add(vsc_read8(vsc_p21), (long)( 3), sizeof(int))); }), ({ vsc_word vsc_p22 = (gs); vsc_word vsc_o22 = vsc_read8(vsc_p22); vsc_write8(vsc_p22, vsc_spread_add(vsc_o22, -1L, sizeof(int))); });
 ({ vsc_word vsc_p23 = (w); long double vsc_t23; vsc_read(&vsc_t23, vsc_p23, sizeof vsc_t23); vsc_t23 = vsc_t23 + ( 1); vsc_write(vsc_p23, &vsc_t23, sizeof vsc_t23); vsc_t23; }), ({ vsc_word vsc_p24 = (w); long double vsc_o24 = ({ long double vsc_t; vsc_read(&vsc_t, vsc_p24, sizeof vsc_t); vsc_t; }); long double vsc_o24n = vsc_o24 + 1; vsc_write(vsc_p24, &vsc_o24n, sizeof vsc_o24n); vsc_o24n; });
}
# 1 "<splitcc>"
