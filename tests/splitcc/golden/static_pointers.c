# 1 "static_pointers.sc"
int x, a[3];
struct s { int n; vsc_word p [ 2 ]; } one = { 1, { (vsc_word)( &x), (vsc_word)( a + 2) } }, *of = &(struct s){ 0 }; VSC_OWN vsc_own1 = (vsc_word *)&one.p[0]; VSC_OWN vsc_own2 = (vsc_word *)&one.p[1];
struct { struct s s; union { vsc_word u; } v[2]; vsc_word name; } many[] = {
    { { 1, { (vsc_word)( &x) } }, { { 0UL }, { (vsc_word)( a) } }, (vsc_word)( "text") },
    3, 0UL, (vsc_word)( &x), (vsc_word)( &x), 0UL, ((vsc_word)("more")) }; VSC_OWN vsc_own3 = (vsc_word *)&many[0].s.p[0]; VSC_OWN vsc_own4 = (vsc_word *)&many[0].v[1].u; VSC_OWN vsc_own5 = (vsc_word *)&many[0].name; VSC_OWN vsc_own6 = (vsc_word *)&many[1].s.p[1]; VSC_OWN vsc_own7 = (vsc_word *)&many[1].v[0].u; VSC_OWN vsc_own8 = (vsc_word *)&many[1].name;
 static vsc_word g =  (vsc_word)( &x);  static int  *h =  &x; VSC_OWN vsc_own9 = (vsc_word *)&g;
 extern vsc_word none;
 vsc_word *next ( int * p )
{
 static vsc_word mine =  (vsc_word)( &a[1]);  static int  count =  0; VSC_OWN vsc_own10 = (vsc_word *)&mine;
 vsc_word here =  vsc_global( p);
    return &mine;
}
struct { int a[2]; vsc_word g [ 2 ]; } flat = { 1, 2, (vsc_word)( &x), 0UL }, named[3] = { [1].g[1] = (vsc_word)( &x), [2] = { g: { [0 ... 1] = (vsc_word)( a) } } }; VSC_OWN vsc_own11 = (vsc_word *)&flat.g[0]; VSC_OWN vsc_own12 = (vsc_word *)&named[1].g[1]; VSC_OWN vsc_own13 = (vsc_word *)&named[2].g[0]; VSC_OWN vsc_own14 = (vsc_word *)&named[2].g[1];
      struct  vsc_tag1 { int n; vsc_word g; };  struct vsc_tag1 fixed =  { 1, (vsc_word)( &x) }; VSC_OWN vsc_own15 = (vsc_word *)&fixed.g;
 extern vsc_word later;
 vsc_word later =  ((vsc_word)( &x)); VSC_OWN vsc_own16 = (vsc_word *)&later;
# 1 "<splitcc>"
