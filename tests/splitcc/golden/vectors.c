# 1 "vectors.sc"
typedef int v4 __attribute__((vector_size(16)));
struct s { char c; v4 v; };  vsc_word S;
 vsc_word V;  v4  mine;
v4 take(v4 v, vsc_word g, int n)
{
    v4 t = ({ v4 vsc_t1; vsc_read(&vsc_t1,  vsc_spread_add( V, (long)(n), sizeof(v4)), sizeof vsc_t1); vsc_t1; });
    t += ({ v4 vsc_t2; vsc_read(&vsc_t2, (g), sizeof vsc_t2); vsc_t2; }), ({ vsc_word vsc_p3 =  vsc_spread_add( V, (long)(n), sizeof(v4)); v4 vsc_t3; vsc_read(&vsc_t3, vsc_p3, sizeof vsc_t3); vsc_t3 = vsc_t3 + ( t); vsc_write(vsc_p3, &vsc_t3, sizeof vsc_t3); vsc_t3; }), ({ v4 vsc_t4 =  t; vsc_write( ( vsc_spread_add( S, (long)(n), sizeof(struct s)) + __builtin_offsetof(struct s, v)), &vsc_t4, sizeof vsc_t4); }), t = ({ v4 vsc_t7; vsc_read(&vsc_t7,  vsc_add( g, (long)(2) * (long)(sizeof(v4))), sizeof vsc_t7); vsc_t7; }) + ({ v4 vsc_t5; vsc_read(&vsc_t5,  ( vsc_spread_add( S, (long)(1), sizeof(struct s)) + __builtin_offsetof(struct s, v)), sizeof vsc_t5); vsc_t5; }) * ({ v4 vsc_t6; vsc_read(&vsc_t6,  vsc_spread_add( V, (long)(0), sizeof(v4)), sizeof vsc_t6); vsc_t6; });
 vsc_get(&( mine),  vsc_spread_add( V, (long)(1), sizeof(v4)), sizeof(v4));
    take( ({ v4 vsc_t12; vsc_read(&vsc_t12, (g), sizeof vsc_t12); vsc_t12; }), vsc_spread_add(V, (long)(n + 1), sizeof(v4)), ({ v4 vsc_t9; vsc_read(&vsc_t9,  vsc_spread_add( V, (long)(0), sizeof(v4)), sizeof vsc_t9); vsc_t9; })[n] + t[1] + ({ v4 vsc_t10; vsc_read(&vsc_t10, (g), sizeof vsc_t10); vsc_t10; })[2] + ({ v4 vsc_t11; vsc_read(&vsc_t11,  ( vsc_spread_add( S, (long)(n), sizeof(struct s)) + __builtin_offsetof(struct s, v)), sizeof vsc_t11); vsc_t11; })[3]);
    return n ? ({ v4 vsc_t13; vsc_read(&vsc_t13, (g), sizeof vsc_t13); vsc_t13; }) : ({ v4 vsc_t14; vsc_read(&vsc_t14,  vsc_spread_add( V, (long)(n), sizeof(v4)), sizeof vsc_t14); vsc_t14; });
}
# 1 "<splitcc>"
static void vsc_allocate_statics(void) {
  vsc_static_spread(&S, (unsigned long)( 4), sizeof(struct s), "S", "vectors.sc", 2);
  vsc_static_spread(&V, (unsigned long)( 4), sizeof(v4), "V", "vectors.sc", 3);
}
static struct vsc_unit vsc_this_unit = {0, vsc_allocate_statics};
static void __attribute__((__constructor__)) vsc_construct_unit(void) {
  vsc_register_unit(&vsc_this_unit);
}
