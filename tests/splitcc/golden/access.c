# 1 "access.sc"
struct point { double x, y; int corners[4]; } ;
char c; short h; long l; unsigned u; float f; double d; long double wide; int *p; enum color { red } e;
void reads( vsc_word gc, vsc_word gh, vsc_word gi, vsc_word gl, vsc_word gf, vsc_word gd
                            , vsc_word gw, vsc_word gg, vsc_word gp, vsc_word gs
                                  , vsc_word ge)
{
    c = ((char)vsc_read1((gc))), h = ((short)vsc_read2((gh)));
    l = ((long)vsc_read8( vsc_spread_add( gl, (long)(3), sizeof(long))));
    f = vsc_read_f((gf)), d = vsc_read_d((gd)), wide = ({ long double vsc_t6; vsc_read(&vsc_t6, (gw), sizeof vsc_t6); vsc_t6; });
    p = ((int *)vsc_read8((gp)));
    gi = vsc_read8((gg));
    e = ((enum color)vsc_read4((ge)));
    d = vsc_read_d( ( gs + __builtin_offsetof(struct point, x))) + vsc_read_d( ((gs) + __builtin_offsetof(struct point, y))) + ((int)vsc_read4( vsc_add( ( vsc_add( gs, (long)(2) * (long)(sizeof(struct point))) + __builtin_offsetof(struct point, corners)), (long)(1) * (long)(sizeof(int)))));
 vsc_write1((gc), (char)( c));
 vsc_write2( vsc_add( gh, (long)(1) * (long)(sizeof(short))), (short)( d));
 vsc_write4((gi), (int)( 3));
 vsc_write_f((gf), (float)( d)), vsc_write_d((gd), (double)( f)), ({ long double vsc_t18 =  wide; vsc_write((gw), &vsc_t18, sizeof vsc_t18); });
 vsc_write8((gp), (unsigned long)(int *)( p)), vsc_write8((gg),  gi);
}
# 1 "<splitcc>"
