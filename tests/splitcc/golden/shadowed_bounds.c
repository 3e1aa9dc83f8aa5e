# 1 "shadowed_bounds.sc"
enum { ROWS = 4, COLUMNS = 1 << 2 };
 vsc_word M;
int f( vsc_word s, vsc_word g)
{
    int ROWS = 1;
    enum { COLUMNS = 2 };
 ( s = vsc_spread_add( s, 1L, (4UL * sizeof(double))));
 vsc_write_d( vsc_add( vsc_spread_add( s, (long)(0), (4UL * sizeof(double))), (long)(1) * (long)(sizeof(double))), (double)( ROWS + COLUMNS));
    return vsc_read_d( vsc_add( vsc_spread_add( s, (long)(1), (4UL * sizeof(double))), (long)(0) * (long)(sizeof(double)))) + ((int)vsc_read4( vsc_add( vsc_add( vsc_add( g, (long)(1) * (long)((4UL * 8UL * sizeof(int)))), (long)(0) * (long)((8UL * sizeof(int)))), (long)(0) * (long)(sizeof(int))))) + vsc_read_d( vsc_add( vsc_spread_add( M, (long)(1), (5UL * sizeof(double))), (long)(0) * (long)(sizeof(double))));
}
# 1 "<splitcc>"
static void vsc_allocate_statics(void) {
  vsc_static_spread(&M, (unsigned long)( 8), (5UL * sizeof(double)), "M", "shadowed_bounds.sc", 2);
}
static struct vsc_unit vsc_this_unit = {0, vsc_allocate_statics};
static void __attribute__((__constructor__)) vsc_construct_unit(void) {
  vsc_register_unit(&vsc_this_unit);
}
