# 1 "spread_types.sc"
 typedef vsc_word numbers;
        struct  vsc_tag1 { int i; };  typedef vsc_word blocks;
 vsc_word A; vsc_word B;
 static vsc_word C;
 extern vsc_word D;
int sum( vsc_word n, int v) { return ((int)vsc_read4( vsc_spread_add( n, (long)(v), sizeof(int)))) + ((int)vsc_read4( vsc_spread_add( A, (long)(v), sizeof(int)))); }
f(b) vsc_word b;
{
 typedef char vsc_g73[vsc_procs()] __attribute__((__unused__)); vsc_word own __attribute__((__cleanup__(vsc_auto_free))) = vsc_auto_spread((unsigned long)( vsc_procs()), sizeof(int), "own", "spread_types.sc", 9);
 vsc_word s = own;
    bulk(A,C, vsc_spread_add(C, (long)(1) * (long)((unsigned long)( vsc_procs() * 3)), ((unsigned long)( 4) * sizeof(struct vsc_tag1))), (vsc_equal( s, own)));
    return ((int)vsc_read4( ( vsc_add( vsc_spread_add( vsc_spread_add( b, (long)(1) * (long)((unsigned long)( vsc_procs() * 3)), ((unsigned long)( 4) * sizeof(struct vsc_tag1))), (long)(2), ((unsigned long)( 4) * sizeof(struct vsc_tag1))), (long)(3) * (long)(sizeof(struct vsc_tag1))) + __builtin_offsetof(struct vsc_tag1, i)))) + sum(own, 1);
}
# 1 "<splitcc>"
static void vsc_allocate_statics(void) {
  vsc_static_spread(&A, (unsigned long)( vsc_procs()), sizeof(int), "A", "spread_types.sc", 3);
  vsc_static_spread(&B, (unsigned long)( vsc_procs()), sizeof(int), "B", "spread_types.sc", 3);
  vsc_static_spread(&C, (unsigned long)( 2) * (unsigned long)( vsc_procs() * 3), ((unsigned long)( 4) * sizeof(struct vsc_tag1)), "C", "spread_types.sc", 4);
}
static struct vsc_unit vsc_this_unit = {0, vsc_allocate_statics};
static void __attribute__((__constructor__)) vsc_construct_unit(void) {
  vsc_register_unit(&vsc_this_unit);
}
