# 1 "atomic.sc"
struct pair { int a, b; };
static int add(int *p, int by) { return *p += by; }
void clear(struct pair *p) { p->a = p->b = 0; }
double scale(p, by) double *p; float by; { return *p *= by; }
void any(p, by) void *p; int by; { }
void point(int *p, int by, vsc_word to) { }
# 9 "atomic.sc"
struct vsc_atomic_1 { void *vsc_p; }; extern char vsc_fits_9_1[sizeof(struct vsc_atomic_1) <= 40 ? 1 : -1]; static void vsc_thunk_1(const void *vsc_a, void *vsc_r) { (void)vsc_a; (void)vsc_r; clear(((struct vsc_atomic_1 *)vsc_a)->vsc_p); } 
# 10 "atomic.sc"
struct vsc_atomic_2 { void *vsc_p; }; extern char vsc_fits_10_2[sizeof(struct vsc_atomic_2) <= 40 ? 1 : -1]; static void vsc_thunk_2(const void *vsc_a, void *vsc_r) { (void)vsc_a; (void)vsc_r; clear(((struct vsc_atomic_2 *)vsc_a)->vsc_p); } 
# 11 "atomic.sc"
struct vsc_atomic_3 { void *vsc_p; int vsc_2; }; extern char vsc_fits_11_3[sizeof(struct vsc_atomic_3) <= 40 ? 1 : -1]; static void vsc_thunk_3(const void *vsc_a, void *vsc_r) { (void)vsc_a; (void)vsc_r; *(int *)vsc_r = add(((struct vsc_atomic_3 *)vsc_a)->vsc_p, ((struct vsc_atomic_3 *)vsc_a)->vsc_2); } 
# 11 "atomic.sc"
struct vsc_atomic_4 { void *vsc_p; int vsc_2; }; extern char vsc_fits_11_4[sizeof(struct vsc_atomic_4) <= 40 ? 1 : -1]; static void vsc_thunk_4(const void *vsc_a, void *vsc_r) { (void)vsc_a; (void)vsc_r; *(int *)vsc_r = add(((struct vsc_atomic_4 *)vsc_a)->vsc_p, ((struct vsc_atomic_4 *)vsc_a)->vsc_2); } 
# 12 "atomic.sc"
struct vsc_atomic_5 { void *vsc_p; int vsc_2; vsc_word vsc_3; }; extern char vsc_fits_12_5[sizeof(struct vsc_atomic_5) <= 40 ? 1 : -1]; static void vsc_thunk_5(const void *vsc_a, void *vsc_r) { (void)vsc_a; (void)vsc_r; point(((struct vsc_atomic_5 *)vsc_a)->vsc_p, ((struct vsc_atomic_5 *)vsc_a)->vsc_2, ((struct vsc_atomic_5 *)vsc_a)->vsc_3); } 
# 13 "atomic.sc"
struct vsc_atomic_6 { void *vsc_p; double vsc_2; }; extern char vsc_fits_13_6[sizeof(struct vsc_atomic_6) <= 40 ? 1 : -1]; static void vsc_thunk_6(const void *vsc_a, void *vsc_r) { (void)vsc_a; (void)vsc_r; any(((struct vsc_atomic_6 *)vsc_a)->vsc_p, ((struct vsc_atomic_6 *)vsc_a)->vsc_2); } 
# 14 "atomic.sc"
struct vsc_atomic_7 { void *vsc_p; long vsc_2; }; extern char vsc_fits_14_7[sizeof(struct vsc_atomic_7) <= 40 ? 1 : -1]; static void vsc_thunk_7(const void *vsc_a, void *vsc_r) { (void)vsc_a; (void)vsc_r; any(((struct vsc_atomic_7 *)vsc_a)->vsc_p, ((struct vsc_atomic_7 *)vsc_a)->vsc_2); } 
# 15 "atomic.sc"
struct vsc_atomic_8 { void *vsc_p; long vsc_2; }; extern char vsc_fits_15_8[sizeof(struct vsc_atomic_8) <= 40 ? 1 : -1]; static void vsc_thunk_8(const void *vsc_a, void *vsc_r) { (void)vsc_a; (void)vsc_r; any(((struct vsc_atomic_8 *)vsc_a)->vsc_p, ((struct vsc_atomic_8 *)vsc_a)->vsc_2); } 
# 16 "atomic.sc"
struct vsc_atomic_9 { void *vsc_p; double vsc_2; }; extern char vsc_fits_16_9[sizeof(struct vsc_atomic_9) <= 40 ? 1 : -1]; static void vsc_thunk_9(const void *vsc_a, void *vsc_r) { (void)vsc_a; (void)vsc_r; *(double *)vsc_r = scale(((struct vsc_atomic_9 *)vsc_a)->vsc_p, ((struct vsc_atomic_9 *)vsc_a)->vsc_2); } 
# 7 "atomic.sc"
int f( vsc_word g, vsc_word s, vsc_word d, int i)
{
 ({ vsc_word vsc_p1 =  s; struct vsc_atomic_1 vsc_x1 = { vsc_local(vsc_p1) }; vsc_atomic(vsc_p1, vsc_thunk_1, &vsc_x1, sizeof vsc_x1, (void *)0, 0UL); });
 ({ vsc_word vsc_p2 =  vsc_spread_add(s, (long)(2), sizeof(struct pair)); struct vsc_atomic_2 vsc_x2 = { vsc_local(vsc_p2) }; vsc_atomic(vsc_p2, vsc_thunk_2, &vsc_x2, sizeof vsc_x2, (void *)0, 0UL); });
    i = ({ vsc_word vsc_p3 =  g; struct vsc_atomic_3 vsc_x3 = { vsc_local(vsc_p3),  3 }; int vsc_r3; vsc_atomic(vsc_p3, vsc_thunk_3, &vsc_x3, sizeof vsc_x3, &vsc_r3, sizeof vsc_r3); vsc_r3; }) + ({ vsc_word vsc_p4 =  ( vsc_spread_add( s, (long)(1), sizeof(struct pair)) + __builtin_offsetof(struct pair, a)); struct vsc_atomic_4 vsc_x4 = { vsc_local(vsc_p4),  i }; int vsc_r4; vsc_atomic(vsc_p4, vsc_thunk_4, &vsc_x4, sizeof vsc_x4, &vsc_r4, sizeof vsc_r4); vsc_r4; });
 ({ vsc_word vsc_p5 =  g; struct vsc_atomic_5 vsc_x5 = { vsc_local(vsc_p5),  1,  vsc_global( &i) }; vsc_atomic(vsc_p5, vsc_thunk_5, &vsc_x5, sizeof vsc_x5, (void *)0, 0UL); });
 ({ vsc_word vsc_p6 =  d; struct vsc_atomic_6 vsc_x6 = { vsc_local(vsc_p6),  i + 2.5 }; vsc_atomic(vsc_p6, vsc_thunk_6, &vsc_x6, sizeof vsc_x6, (void *)0, 0UL); });
 ({ vsc_word vsc_p7 =  d; struct vsc_atomic_7 vsc_x7 = { vsc_local(vsc_p7),  2 * i + 3L }; vsc_atomic(vsc_p7, vsc_thunk_7, &vsc_x7, sizeof vsc_x7, (void *)0, 0UL); });
 ({ vsc_word vsc_p8 =  g; struct vsc_atomic_8 vsc_x8 = { vsc_local(vsc_p8),  vsc_difference( g,  (d), sizeof(int)) }; vsc_atomic(vsc_p8, vsc_thunk_8, &vsc_x8, sizeof vsc_x8, (void *)0, 0UL); });
    return ({ vsc_word vsc_p9 =  d; struct vsc_atomic_9 vsc_x9 = { vsc_local(vsc_p9),  2.5 }; double vsc_r9; vsc_atomic(vsc_p9, vsc_thunk_9, &vsc_x9, sizeof vsc_x9, &vsc_r9, sizeof vsc_r9); vsc_r9; }) > 1;
}
# 1 "<splitcc>"
