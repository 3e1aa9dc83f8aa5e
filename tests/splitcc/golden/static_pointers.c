# 1 "static_pointers.sc"
int x, a[3];
struct s { int n; vsc_word p [ 2 ]; } one = { 1, { (vsc_word)( &x), (vsc_word)( a + 2) } }, *of = &(struct s){ 0 }; VSC_OWN vsc_own1 = &one.p[0]; VSC_OWN vsc_own2 = &one.p[1];
struct { struct s s; union { vsc_word u; } v[2]; vsc_word name; } many[] = {
    { { 1, { (vsc_word)( &x) } }, { { 0UL }, { (vsc_word)( a) } }, (vsc_word)( "text") },
    3, 0UL, (vsc_word)( &x), (vsc_word)( &x), 0UL, ((vsc_word)("more")) }; VSC_OWN vsc_own3 = &many[0].s.p[0]; VSC_OWN vsc_own4 = &many[0].v[1].u; VSC_OWN vsc_own5 = &many[0].name; VSC_OWN vsc_own6 = &many[1].s.p[1]; VSC_OWN vsc_own7 = &many[1].v[0].u; VSC_OWN vsc_own8 = &many[1].name;
 static vsc_word g =  (vsc_word)( &x);  static int  *h =  &x; VSC_OWN vsc_own9 = &g;
 extern vsc_word none;
 vsc_word *next ( int * p )
{
 static vsc_word mine =  (vsc_word)( &a[1]);  static int  count =  0; VSC_OWN vsc_own10 = &mine;
 vsc_word here =  vsc_global( p);
    return &mine;
}
# 1 "<splitcc>"
