# 2 "warn_constants.sc"
enum { first = 3, second, last = second * 2 + 1, unknown = (char)300 };
 vsc_word A; vsc_word B; vsc_word C; vsc_word D;
struct tail { int n, data[1]; };  vsc_word E;
int wrong( vsc_word P)
{
    int local[20];
 vsc_write4( vsc_add( vsc_spread_add( A, (long)(last), ((unsigned long)( 4) * sizeof(int))), (long)(0) * (long)(sizeof(int))), (int)( ((int)vsc_read4( vsc_add( vsc_spread_add( A, (long)(-1), ((unsigned long)( 4) * sizeof(int))), (long)(first - 4) * (long)(sizeof(int)))))));
 ({ vsc_word vsc_p3 =  vsc_add( vsc_spread_add( A, (long)(0x9), ((unsigned long)( 4) * sizeof(int))), (long)(1) * (long)(sizeof(int))); int vsc_o3 = (int)vsc_read4(vsc_p3); vsc_write4(vsc_p3, (int)(vsc_o3 + 1)); });
 ({ vsc_word vsc_p4 =  vsc_add( vsc_spread_add( A, (long)(sizeof(local) / sizeof local[0]), ((unsigned long)( 4) * sizeof(int))), (long)(second) * (long)(sizeof(int))); vsc_write4(vsc_p4, (int)((int)vsc_read4(vsc_p4) + ( 1))); });
 vsc_put4( vsc_add( vsc_spread_add( A, (long)(1 << 4), ((unsigned long)( 4) * sizeof(int))), (long)(last > 8 ? 1 : 0) * (long)(sizeof(int))), (int)( 3));
 vsc_store4( vsc_add( vsc_spread_add( A, (long)('0'), ((unsigned long)( 4) * sizeof(int))), (long)(0) * (long)(sizeof(int))), (int)( ((int)vsc_read4( vsc_add( vsc_spread_add( A, (long)(first), ((unsigned long)( 4) * sizeof(int))), (long)(~0) * (long)(sizeof(int)))))));
 vsc_get4(&( local[1]),  vsc_add( vsc_spread_add( A, (long)(9 % 10), ((unsigned long)( 4) * sizeof(int))), (long)(0) * (long)(sizeof(int))));
 vsc_write4( vsc_spread_add( B, (long)(vsc_procs()), sizeof(int)), (int)( ((int)vsc_read4( vsc_spread_add( B, (long)(vsc_procs() + 1), sizeof(int))))));
 vsc_write4( vsc_spread_add( C, (long)(vsc_procs() * 2), sizeof(int)), (int)( ((int)vsc_read4( vsc_spread_add( C, (long)(3 * vsc_procs() - 1), sizeof(int))))));
    * ((int *)vsc_read8( vsc_spread_add(D, (long)(2), sizeof(int *)))) = ((int)vsc_read4( vsc_spread_add( P, (long)(second), sizeof(int))));
    return ((int)vsc_read4( vsc_spread_add( B, (long)(-vsc_procs()), sizeof(int))));
}
int right( vsc_word P)
{
 vsc_word end =  vsc_add( vsc_spread_add(A, (long)(last), ((unsigned long)( 4) * sizeof(int))), (long)(0) * (long)(sizeof(int)));  int  n =  sizeof(int [(unsigned long)( 4)]);
 vsc_write4( vsc_add( vsc_spread_add( A, (long)(last - 1), ((unsigned long)( 4) * sizeof(int))), (long)(first) * (long)(sizeof(int))), (int)( ((int)vsc_read4( vsc_add( vsc_spread_add( A, (long)(unknown), ((unsigned long)( 4) * sizeof(int))), (long)(0) * (long)(sizeof(int))))) + ((int)vsc_read4( vsc_add( vsc_spread_add( A, (long)(1 / (first - 3)), ((unsigned long)( 4) * sizeof(int))), (long)(0) * (long)(sizeof(int)))))));
 vsc_write4( vsc_spread_add( B, (long)(vsc_procs() - 1), sizeof(int)), (int)( ((int)vsc_read4( vsc_spread_add( B, (long)(3), sizeof(int)))) + ((int)vsc_read4( vsc_spread_add( B, (long)(vsc_procs() / 2), sizeof(int)))) + ((int)vsc_read4( vsc_spread_add( B, (long)(0), sizeof(int))))));
 vsc_write4( vsc_spread_add( C, (long)(2 * vsc_procs() - 1), sizeof(int)), (int)( ((int)vsc_read4( vsc_spread_add( C, (long)(vsc_procs()), sizeof(int)))) + ((int)vsc_read4( vsc_spread_add( C, (long)(vsc_procs() + 1), sizeof(int))))));
 vsc_write4( vsc_add( ( vsc_spread_add( E, (long)(3), sizeof(struct tail)) + __builtin_offsetof(struct tail, data)), (long)(5) * (long)(sizeof(int))), (int)( ((int)vsc_read4( vsc_spread_add( P, (long)(-1), sizeof(int))))));
    return ((int)vsc_read4( vsc_add( ( vsc_add( vsc_spread_add(A, (long)(0), ((unsigned long)( 4) * sizeof(int))), (long)(0) * (long)(sizeof(int)))), (long)(12) * (long)(sizeof(int))))) + ((int)vsc_read4( vsc_add( ( vsc_add( vsc_spread_add(A, (long)(1), ((unsigned long)( 4) * sizeof(int))), (long)( 1) * (long)(sizeof(int)))), (long)(3) * (long)(sizeof(int))))) + n + ( (!vsc_is(end)));
}
# 1 "<splitcc>"
static void vsc_allocate_statics(void) {
  vsc_static_spread(&A, (unsigned long)( 9), ((unsigned long)( 4) * sizeof(int)), "A", "warn_constants.sc", 3);
  vsc_static_spread(&B, (unsigned long)( vsc_procs()), sizeof(int), "B", "warn_constants.sc", 3);
  vsc_static_spread(&C, (unsigned long)( 2 * vsc_procs()), sizeof(int), "C", "warn_constants.sc", 3);
  vsc_static_spread(&D, (unsigned long)( 2), sizeof(int *), "D", "warn_constants.sc", 3);
  vsc_static_spread(&E, (unsigned long)( 4), sizeof(struct tail), "E", "warn_constants.sc", 4);
}
static struct vsc_unit vsc_this_unit = {0, vsc_allocate_statics};
static void __attribute__((__constructor__)) vsc_construct_unit(void) {
  vsc_register_unit(&vsc_this_unit);
}
