# 1 "warn_qualifiers.sc"
struct s { int x; int row[3]; struct  vsc_tag1 { int deep[2]; char *text; } in; struct { const int one; vsc_word next; }; };
 vsc_word g;
 vsc_word V;
 vsc_word ro;
 vsc_word both;
const struct { struct { int inner; }; } unnamed;
int n;
void take( vsc_word p, vsc_word v, vsc_word A);
void old();
 vsc_word text ( vsc_word from ) { return from; }
void lost(void)
{
 vsc_word p =  (g + __builtin_offsetof(struct s, x));
 vsc_word q =  ( g + __builtin_offsetof(struct s, row));
 vsc_word r =  vsc_global( &unnamed.inner);
 vsc_word words =  (g + __builtin_offsetof(struct s, next));
 vsc_word any;
    p = ( ( g + __builtin_offsetof(struct s, in)) + __builtin_offsetof(struct vsc_tag1, deep)), p = ro, any = ro;
    p = ( vsc_spread_add(V, (long)(1), sizeof(struct s)) + __builtin_offsetof(struct s, x));
    take(ro, (g + __builtin_offsetof(struct s, x)), both);
    p = n ? ro : p;
 vsc_get8(&( p), ( (any)));
    int *l = ((int *)vsc_local(ro));
    l = ((int *)vsc_read8(( (any))));
    struct { vsc_word word; } made = { ro };
    p = vsc_global( vsc_is( words) ? &n : (const int *)0);
}
char *right(const char *name, vsc_word mine)
{
 vsc_word p =  (g + __builtin_offsetof(struct s, x)); vsc_word q =  ( g + __builtin_offsetof(struct s, row)); vsc_word words =  ( (g + __builtin_offsetof(struct s, next)));
 vsc_word any =  ro;
 vsc_word s =  vsc_global( "text");  char  *end =  ((char *)vsc_read8( ( ( g + __builtin_offsetof(struct s, in)) + __builtin_offsetof(struct vsc_tag1, text))));
 vsc_word cast =  (ro);  int  i =  ((int)vsc_read4((ro))) + ((int)vsc_read4( ( g + __builtin_offsetof(struct s, x))));
    __auto_type copy = vsc_read8( ( g + __builtin_offsetof(struct s, next)));
    copy = 0UL;
    p = n ? ro : vsc_global( &n), p = n ? vsc_global( &n) : p, i = (vsc_equal( p,  vsc_global( &n))), i = vsc_difference( ro,  cast, sizeof(int)), q = 0UL, any = mine;
    n = ((int)vsc_read4((both))) + ((int)vsc_read4( vsc_add( ( vsc_spread_add( V, (long)(2), sizeof(struct s)) + __builtin_offsetof(struct s, row)), (long)(1) * (long)(sizeof(int))))), name = end, old(ro, p), ((void)(words));
    return (vsc_equal( s,  any)) ? (char *)name : ((char *)vsc_read8( ( ( g + __builtin_offsetof(struct s, in)) + __builtin_offsetof(struct vsc_tag1, text))));
}
# 1 "<splitcc>"
static void vsc_allocate_statics(void) {
  vsc_static_spread(&V, (unsigned long)( 4), sizeof(struct s), "V", "warn_qualifiers.sc", 3);
}
static struct vsc_unit vsc_this_unit = {0, vsc_allocate_statics};
static void __attribute__((__constructor__)) vsc_construct_unit(void) {
  vsc_register_unit(&vsc_this_unit);
}
