# 1 "process.sc"
 vsc_word row;
int f()
{
    if (vsc_procslog() < 0) return vsc_procs();
    return ((int)vsc_read4( vsc_add( vsc_spread_add( row, (long)(vsc_myproc()), ((unsigned long)( vsc_procs()) * sizeof(int))), (long)((vsc_myproc() + 1) % vsc_procs()) * (long)(sizeof(int)))));
}
# 1 "<splitcc>"
static void vsc_allocate_statics(void) {
  vsc_static_spread(&row, (unsigned long)( vsc_procs()), ((unsigned long)( vsc_procs()) * sizeof(int)), "row", "process.sc", 1);
}
static struct vsc_unit vsc_this_unit = {0, vsc_allocate_statics};
static void __attribute__((__constructor__)) vsc_construct_unit(void) {
  vsc_register_unit(&vsc_this_unit);
}
