# 2 "warn_bulk.sc"
void bulk_read(void *to, vsc_word from, unsigned long bytes);
void bulk_get(void *to, vsc_word from, unsigned long bytes);
void bulk_write( vsc_word to, const void *from, unsigned long bytes);
void bulk_put( vsc_word to, const void *from, unsigned long bytes);
void bulk_store( vsc_word to, const void *from, unsigned long bytes);
 vsc_word rows; vsc_word parts; vsc_word one;
void wrong(int n, vsc_word many)
{ __extension__ const unsigned long vsc_n1 __attribute__((__unused__)) = (unsigned long)( n); __extension__ const unsigned long vsc_n2 __attribute__((__unused__)) = (unsigned long)( n);
    int here[100];
    bulk_read(here, vsc_spread_add( rows, (long)(2) * (long)((unsigned long)( 3)), ((unsigned long)( 8) * sizeof(int))), sizeof(int[8]));
    bulk_get(here, vsc_spread_add(rows, (long)(n) * (long)((unsigned long)( 3)), ((unsigned long)( 8) * sizeof(int))), n);
    bulk_write( ( vsc_spread_add(many, (long)(n - 1) * (long)(vsc_n2), sizeof(int))), here, n);
    bulk_store(parts, here, 2 * vsc_procs() * sizeof(int));
    bulk_read(here, vsc_add( vsc_spread_add(parts, (long)(0), ((unsigned long)( 2) * sizeof(int))), (long)(0) * (long)(sizeof(int))), vsc_procs() * sizeof(int [(unsigned long)( 2)]));
    bulk_read(here, rows, 12 * 8 * 4);
}
void right(int n, vsc_word many)
{ __extension__ const unsigned long vsc_n3 __attribute__((__unused__)) = (unsigned long)( n); __extension__ const unsigned long vsc_n4 __attribute__((__unused__)) = (unsigned long)( n);
    int here[100];
    bulk_read(here, vsc_spread_add( vsc_spread_add( rows, (long)(2) * (long)((unsigned long)( 3)), ((unsigned long)( 8) * sizeof(int))), (long)(1), ((unsigned long)( 8) * sizeof(int))), sizeof(int[8]));
    bulk_get(here, vsc_add( vsc_spread_add( vsc_spread_add(rows, (long)(n) * (long)((unsigned long)( 3)), ((unsigned long)( 8) * sizeof(int))), (long)(0), ((unsigned long)( 8) * sizeof(int))), (long)(3) * (long)(sizeof(int))), 4 * sizeof(int));
    bulk_write( vsc_spread_add( vsc_spread_add(many, (long)(n - 1) * (long)(vsc_n4), sizeof(int)), (long)(0), sizeof(int)), here, n);
    bulk_put(one, here, sizeof here);
    bulk_store( vsc_spread_add(parts, (long)(n), ((unsigned long)( 2) * sizeof(int))), here, sizeof(int [(unsigned long)( 2)]));
    bulk_read(here, rows, sizeof(int [(unsigned long)( 8)]));
}
# 1 "<splitcc>"
static void vsc_allocate_statics(void) {
  vsc_static_spread(&rows, (unsigned long)( 4) * (unsigned long)( 3), ((unsigned long)( 8) * sizeof(int)), "rows", "warn_bulk.sc", 7);
  vsc_static_spread(&parts, (unsigned long)( vsc_procs()), ((unsigned long)( 2) * sizeof(int)), "parts", "warn_bulk.sc", 7);
  vsc_static_spread(&one, (unsigned long)( 1), ((unsigned long)( 100) * sizeof(int)), "one", "warn_bulk.sc", 7);
}
static struct vsc_unit vsc_this_unit = {0, vsc_allocate_statics};
static void __attribute__((__constructor__)) vsc_construct_unit(void) {
  vsc_register_unit(&vsc_this_unit);
}
