# 1 "type_names.sc"
 vsc_word A;  int  n;
_Static_assert(sizeof(vsc_word) == 8, "a word");
_Alignas( vsc_word ) int aligned;
struct s { char c; _Static_assert(sizeof(vsc_word) == 8, "a" " word"); _Alignas( vsc_word ) int m; };
__typeof__( vsc_word ) whole(__typeof__( vsc_word [(unsigned long)( 2)] ) p);
struct r { char a; int b, c[2]; };  vsc_word R;
int f( vsc_word g, vsc_word s, const struct r *of, vsc_word all)
{
    __typeof__( vsc_word ) h = g;
    _Static_assert(sizeof(int) == 4, "an int");
    n = __builtin_offsetof(struct { vsc_word g [ 2 ]; }, g[ ((int)vsc_read4((h)))]);
    n = 0 + __builtin_types_compatible_p(int, int);
 vsc_write4((g), (int)( 3));
    h = (
 vsc_add( g, (long)( 1) * (long)(sizeof(int)))
                           );
    n = _Generic(n, int: 1, default: 2) + ((int)vsc_read4((( g)))) + ( n);
    n = ( 1) + ( 1);
    n = ( 1) + ((int)vsc_read4((g)));
    return ( vsc_difference( h,  g, sizeof(int)));
}
int literal(void) { return sizeof (int[]){ 1, 2, 3 } + sizeof (int[]){ 1, 2 }[1]; }
# 1 "<splitcc>"
static void vsc_allocate_statics(void) {
  vsc_static_spread(&A, (unsigned long)( 4), sizeof(int), "A", "type_names.sc", 1);
  vsc_static_spread(&R, (unsigned long)( 4), sizeof(struct r), "R", "type_names.sc", 6);
}
static struct vsc_unit vsc_this_unit = {0, vsc_allocate_statics};
static void __attribute__((__constructor__)) vsc_construct_unit(void) {
  vsc_register_unit(&vsc_this_unit);
}
