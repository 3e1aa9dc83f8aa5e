# 1 "bit_fields.sc"
struct s { int a : 3, b; struct  vsc_tag1 { unsigned c : 9; } in; };
 vsc_word A;
void f( vsc_word g, struct s *l)
{
    int x = ({ struct s vsc_t1; vsc_read(&vsc_t1,  g, sizeof vsc_t1); vsc_t1.a; });
 ({ vsc_word vsc_p3 =  g; struct s vsc_t3, vsc_m3; __builtin_memset(&vsc_t3, 0, sizeof vsc_t3); vsc_t3.a = ( ({ vsc_word vsc_p2 =  ( vsc_spread_add( A, (long)(1), sizeof(struct s)) + __builtin_offsetof(struct s, in)); struct vsc_tag1 vsc_t2, vsc_m2; __builtin_memset(&vsc_t2, 0, sizeof vsc_t2); vsc_t2.c = ( 1); __builtin_memset(&vsc_m2, 0, sizeof vsc_m2); vsc_m2.c = -1; vsc_write_bits(vsc_p2, &vsc_t2, &vsc_m2, sizeof vsc_m2); vsc_t2.c; })); __builtin_memset(&vsc_m3, 0, sizeof vsc_m3); vsc_m3.a = -1; vsc_write_bits(vsc_p3, &vsc_t3, &vsc_m3, sizeof vsc_m3); vsc_t3.a; });
 ({ vsc_word vsc_p4 =  g; struct s vsc_t4, vsc_m4; vsc_read(&vsc_t4, vsc_p4, sizeof vsc_t4); int vsc_o4 = vsc_t4.a; vsc_t4.a++; __builtin_memset(&vsc_m4, 0, sizeof vsc_m4); vsc_m4.a = -1; vsc_write_bits(vsc_p4, &vsc_t4, &vsc_m4, sizeof vsc_m4); vsc_t4.a = vsc_o4; vsc_t4.a; }), ({ vsc_word vsc_p5 =  ( vsc_spread_add(A, (long)(2), sizeof(struct s)) + __builtin_offsetof(struct s, in)); struct vsc_tag1 vsc_t5, vsc_m5; vsc_read(&vsc_t5, vsc_p5, sizeof vsc_t5); vsc_t5.c--; __builtin_memset(&vsc_m5, 0, sizeof vsc_m5); vsc_m5.c = -1; vsc_write_bits(vsc_p5, &vsc_t5, &vsc_m5, sizeof vsc_m5); vsc_t5.c; });
    x = ({ vsc_word vsc_p6 =  ((g) + __builtin_offsetof(struct s, in)); struct vsc_tag1 vsc_t6, vsc_m6; vsc_read(&vsc_t6, vsc_p6, sizeof vsc_t6); unsigned int vsc_o6 = vsc_t6.c; vsc_t6.c--; __builtin_memset(&vsc_m6, 0, sizeof vsc_m6); vsc_m6.c = -1; vsc_write_bits(vsc_p6, &vsc_t6, &vsc_m6, sizeof vsc_m6); vsc_t6.c = vsc_o6; vsc_t6.c; });
 ({ vsc_word vsc_p8 =  ( g + __builtin_offsetof(struct s, in)); struct vsc_tag1 vsc_t8, vsc_m8; vsc_read(&vsc_t8, vsc_p8, sizeof vsc_t8); vsc_t8.c |= ( ((int)vsc_read4( ( g + __builtin_offsetof(struct s, b))))); __builtin_memset(&vsc_m8, 0, sizeof vsc_m8); vsc_m8.c = -1; vsc_write_bits(vsc_p8, &vsc_t8, &vsc_m8, sizeof vsc_m8); vsc_t8.c; });
 ({ vsc_word vsc_p9 =  vsc_spread_add( A, (long)(x), sizeof(struct s)); struct s vsc_t9, vsc_m9; __builtin_memset(&vsc_t9, 0, sizeof vsc_t9); vsc_t9.a = ( 2); __builtin_memset(&vsc_m9, 0, sizeof vsc_m9); vsc_m9.a = -1; vsc_write_bits(vsc_p9, &vsc_t9, &vsc_m9, sizeof vsc_m9); });
    x = ({ struct s vsc_t11; vsc_read(&vsc_t11,  g, sizeof vsc_t11); vsc_t11.a; });
    l->a = ((int)vsc_read4( ( g + __builtin_offsetof(struct s, b))));
}
# 1 "<splitcc>"
static void vsc_allocate_statics(void) {
  vsc_static_spread(&A, (unsigned long)( 4), sizeof(struct s), "A", "bit_fields.sc", 2);
}
static struct vsc_unit vsc_this_unit = {0, vsc_allocate_statics};
static void __attribute__((__constructor__)) vsc_construct_unit(void) {
  vsc_register_unit(&vsc_this_unit);
}
