# 1 "spread_arrays.sc"
int n;
 vsc_word A;
 static vsc_word B;
 extern vsc_word C;
 vsc_word D;  float  plain;
static vsc_word vsc_kept_1;  int tables(int v, int w)
{
 
  int  i =  3; const unsigned long vsc_n2 = (unsigned long)( v); typedef char vsc_g72[vsc_procs()] __attribute__((__unused__)); vsc_word V __attribute__((__cleanup__(vsc_auto_free))) = vsc_auto_spread(vsc_n2, sizeof(int), "V", "spread_arrays.sc", 9); const unsigned long vsc_n3 = (unsigned long)( v); const unsigned long vsc_n4 = (unsigned long)( w); const unsigned long vsc_n5 = (unsigned long)( i); typedef char vsc_g78[vsc_procs()] __attribute__((__unused__)); vsc_word W __attribute__((__cleanup__(vsc_auto_free))) = vsc_auto_spread(vsc_n3 * vsc_n4, (vsc_n5 * sizeof(int)), "W", "spread_arrays.sc", 9);  int  x;
 vsc_word s =  0UL; vsc_word g;
 vsc_write4( vsc_spread_add( vsc_kept_1, (long)(i), sizeof(int)), (int)( ((int)vsc_read4( vsc_spread_add( A, (long)(7), sizeof(int)))) + ((int)vsc_read4( vsc_spread_add( V, (long)(i), sizeof(int)))) + ((int)vsc_read4( vsc_add( vsc_spread_add( vsc_spread_add( W, (long)(1) * (long)(vsc_n4), (vsc_n5 * sizeof(int))), (long)(2), (vsc_n5 * sizeof(int))), (long)(0) * (long)(sizeof(int)))))));
    g = vsc_spread_add( B, (long)(i), ((unsigned long)( 4) * sizeof(double))), g = vsc_add( vsc_spread_add(B, (long)(i), ((unsigned long)( 4) * sizeof(double))), (long)(1) * (long)(sizeof(double)));
    s = vsc_add( vsc_spread_add(B, (long)(2), ((unsigned long)( 4) * sizeof(double))), (long)(0) * (long)(sizeof(double)));
    x = (vsc_write_f( vsc_add( vsc_add( vsc_spread_add( vsc_spread_add( D, (long)(1) * (long)((unsigned long)( 5)), ((unsigned long)( 2) * (unsigned long)( 2) * sizeof(float))), (long)(i), ((unsigned long)( 2) * (unsigned long)( 2) * sizeof(float))), (long)(0) * (long)(((unsigned long)( 2) * sizeof(float)))), (long)(1) * (long)(sizeof(float))), (float)( ((int)vsc_read4( vsc_add( vsc_spread_add( C, (long)(2), ((unsigned long)( 7) * sizeof(int))), (long)(6) * (long)(sizeof(int))))))));
    for (i = 0; i < 3; i++) {
 const unsigned long vsc_n12 = (unsigned long)( i + 1); typedef char vsc_g197[vsc_procs()] __attribute__((__unused__)); vsc_word inner __attribute__((__cleanup__(vsc_auto_free))) = vsc_auto_spread(vsc_n12, sizeof(int), "inner", "spread_arrays.sc", 16);
        if (i == 2) break;
 vsc_write4( vsc_spread_add( inner, (long)(0), sizeof(int)), (int)( i));
    }
    return sizeof(int) + sizeof(double [(unsigned long)( 4)]);
}
# 1 "<splitcc>"
static void vsc_allocate_statics(void) {
  vsc_static_spread(&A, (unsigned long)( 100), sizeof(int), "A", "spread_arrays.sc", 2);
  vsc_static_spread(&B, (unsigned long)( 10), ((unsigned long)( 4) * sizeof(double)), "B", "spread_arrays.sc", 3);
  vsc_static_spread(&D, (unsigned long)( 3) * (unsigned long)( 5), ((unsigned long)( 2) * (unsigned long)( 2) * sizeof(float)), "D", "spread_arrays.sc", 5);
  vsc_static_spread(&vsc_kept_1, (unsigned long)( 12), sizeof(int), "kept", "spread_arrays.sc", 8);
}
static struct vsc_unit vsc_this_unit = {0, vsc_allocate_statics};
static void __attribute__((__constructor__)) vsc_construct_unit(void) {
  vsc_register_unit(&vsc_this_unit);
}
