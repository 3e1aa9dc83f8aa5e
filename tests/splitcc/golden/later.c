# 2 "later.sc"
 vsc_word A;
int f(int *restrict p, vsc_word g, vsc_word *restrict h) { return *p + ((int)vsc_read4((g))) + ((int)vsc_read4((*h))); }
_Atomic( vsc_word ) word;
 vsc_word counter;
unsigned short *s = u"a", c = u'x';
 vsc_word g ( void ) { return ( vsc_spread_add(A, (long)(1), sizeof(int))); }
# 1 "<splitcc>"
static void vsc_allocate_statics(void) {
  vsc_static_spread(&A, (unsigned long)( 4), sizeof(int), "A", "later.sc", 2);
}
static struct vsc_unit vsc_this_unit = {0, vsc_allocate_statics};
static void __attribute__((__constructor__)) vsc_construct_unit(void) {
  vsc_register_unit(&vsc_this_unit);
}
