# 1 "warn_bounds.sc"
 vsc_word A;
 vsc_word B;
int n;
int f(int v, vsc_word P)
{ __extension__ const unsigned long vsc_n1 __attribute__((__unused__)) = (unsigned long)( v);
 vsc_word end =  vsc_spread_add(A, (long)(10), sizeof(int));

 vsc_write4( vsc_spread_add( A, (long)(10), sizeof(int)), (int)( 1));
 ({ vsc_word vsc_p3 =  vsc_add( vsc_spread_add( vsc_spread_add( B, (long)(1) * (long)((unsigned long)( 3)), ((unsigned long)( 2) * sizeof(int))), (long)(3), ((unsigned long)( 2) * sizeof(int))), (long)(0) * (long)(sizeof(int))); vsc_write4(vsc_p3, (int)((int)vsc_read4(vsc_p3) + ( 2))); });
 ({ vsc_word vsc_p4 =  vsc_add( vsc_spread_add( vsc_spread_add( B, (long)(4) * (long)((unsigned long)( 3)), ((unsigned long)( 2) * sizeof(int))), (long)(0), ((unsigned long)( 2) * sizeof(int))), (long)(1) * (long)(sizeof(int))); int vsc_o4 = (int)vsc_read4(vsc_p4); vsc_write4(vsc_p4, (int)(vsc_o4 + 1)); });
    n = ((int)vsc_read4( vsc_spread_add( A, (long)(11), sizeof(int))));
 vsc_write4( vsc_spread_add( A, (long)(9), sizeof(int)), (int)( ((int)vsc_read4( vsc_add( vsc_spread_add( vsc_spread_add( B, (long)(3) * (long)((unsigned long)( 3)), ((unsigned long)( 2) * sizeof(int))), (long)(2), ((unsigned long)( 2) * sizeof(int))), (long)(5 - 4) * (long)(sizeof(int)))))));
    return ((int)vsc_read4( vsc_spread_add( P, (long)(10), sizeof(int)))) + ( (vsc_equal(end,  vsc_spread_add(A, (long)(10), sizeof(int)))));
}
int wraps(void) { return ((int)vsc_read4( vsc_spread_add( A, (long)((unsigned)-1 % 4), sizeof(int)))) + ((int)vsc_read4( vsc_spread_add( A, (long)(-1u % 10), sizeof(int)))); }
# 1 "<splitcc>"
static void vsc_allocate_statics(void) {
  vsc_static_spread(&A, (unsigned long)( 10), sizeof(int), "A", "warn_bounds.sc", 1);
  vsc_static_spread(&B, (unsigned long)( 4) * (unsigned long)( 3), ((unsigned long)( 2) * sizeof(int)), "B", "warn_bounds.sc", 2);
}
static struct vsc_unit vsc_this_unit = {0, vsc_allocate_statics};
static void __attribute__((__constructor__)) vsc_construct_unit(void) {
  vsc_register_unit(&vsc_this_unit);
}
