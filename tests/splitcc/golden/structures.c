# 1 "structures.sc"
struct point { double x, y; int corners[4]; struct  vsc_tag1 { int deep; } inner; unsigned bits : 3; };
struct point here;
typedef struct  vsc_tag2 { vsc_word at; int n; } cell;
cell one = { 0UL, 4 }, all[2] = { { 0UL }, { 0UL, 1 } };
void f( vsc_word g, vsc_word cells, int i)
{
    struct point copy;
 vsc_word corner;
    copy = ({ struct point vsc_t1; vsc_read(&vsc_t1, (g), sizeof vsc_t1); vsc_t1; });
 ({ struct point vsc_t2 =  here; vsc_write( vsc_add( g, (long)(1) * (long)(sizeof(struct point))), &vsc_t2, sizeof vsc_t2); });
 ({ struct point vsc_t4 =  ({ struct point vsc_t3; vsc_read(&vsc_t3,  vsc_add( g, (long)(2) * (long)(sizeof(struct point))), sizeof vsc_t3); vsc_t3; }); vsc_write((g), &vsc_t4, sizeof vsc_t4); });
    corner = ( g + __builtin_offsetof(struct point, corners));
    corner = vsc_add( (g + __builtin_offsetof(struct point, corners)), (long)(i) * (long)(sizeof(int)));
    i = ((int)vsc_read4( ( ( g + __builtin_offsetof(struct point, inner)) + __builtin_offsetof(struct vsc_tag1, deep)))) + ({ struct point vsc_t6; vsc_read(&vsc_t6,  g, sizeof vsc_t6); vsc_t6.bits; });
 vsc_write4( ( ( vsc_read8( ( vsc_spread_add( cells, (long)(i), sizeof(struct vsc_tag2)) + __builtin_offsetof(struct vsc_tag2, at))) + __builtin_offsetof(struct point, inner)) + __builtin_offsetof(struct vsc_tag1, deep)), (int)( 7));
    g = (vsc_write8( ( vsc_spread_add( cells, (long)(i), sizeof(struct vsc_tag2)) + __builtin_offsetof(struct vsc_tag2, at)),  vsc_global( &here)));
 ({ struct vsc_tag2 vsc_t11 =  ({ struct vsc_tag2 vsc_t10; vsc_read(&vsc_t10,  vsc_spread_add( cells, (long)(2), sizeof(struct vsc_tag2)), sizeof vsc_t10); vsc_t10; }); vsc_write( vsc_spread_add( cells, (long)(1), sizeof(struct vsc_tag2)), &vsc_t11, sizeof vsc_t11); });
}
struct  vsc_tag3 { int n; int f[4]; };  vsc_word unnamed; union  vsc_tag4 { int n; };  typedef vsc_word unnamed_type;
# 1 "<splitcc>"
