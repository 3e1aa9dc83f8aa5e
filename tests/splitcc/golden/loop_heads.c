# 2 "loop_heads.sc"
 vsc_word A;
int f(void)
{ struct vsc_span vsc_w3 __attribute__((__unused__)) = {0};
    int r = 0;
 { vsc_word h =  vsc_spread_add(A, (long)(0), sizeof(int)); int  i =  0; for (; i < 3; i++) r += ((int)vsc_read4((h))); }
    for ( vsc_word h =  vsc_spread_add(A, (long)(0), sizeof(int)); (vsc_is( h)); ( h = vsc_add( h, 1L * (long)(sizeof(int))))) r++;
    if (r) { int  i =  0; vsc_word s =  A; for (; i < 3; i++) { if ( ((int)vsc_span_read4(&vsc_w3, s, (long)(i)))) continue; break; } } else r = 1;
 {struct  vsc_tag1 { int k; };   struct vsc_tag1   one; vsc_word g =  vsc_global( &one); for (; ((int)vsc_read4( ( g + __builtin_offsetof(struct vsc_tag1, k)))); )
        for (int i = 0, j = ((int)vsc_read4( vsc_spread_add( A, (long)(1), sizeof(int)))); i < j; i++) { typedef char vsc_g158[vsc_procs()] __attribute__((__unused__)); vsc_word B __attribute__((__cleanup__(vsc_auto_free))) = vsc_auto_spread((unsigned long)( 2), sizeof(int), "B", "loop_heads.sc", 10); for (; i < 5; i++) vsc_write4( vsc_spread_add( B, (long)(1), sizeof(int)), (int)( i)); } }
    return r;
}
# 1 "<splitcc>"
static void vsc_allocate_statics(void) {
  vsc_static_spread(&A, (unsigned long)( 4), sizeof(int), "A", "loop_heads.sc", 2);
}
static struct vsc_unit vsc_this_unit = {0, vsc_allocate_statics};
static void __attribute__((__constructor__)) vsc_construct_unit(void) {
  vsc_register_unit(&vsc_this_unit);
}
