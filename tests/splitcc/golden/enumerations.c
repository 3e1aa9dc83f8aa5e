# 2 "enumerations.sc"
enum plain { A, B = 'b', C = -3 } pa, *pp;
enum bits { D = 0x80000000, E = 0xffffffff } ba;
enum big { F = 1, G = 0x10000000000L } ga;
enum mixed { H = -1, I = 0xffffffff } ma;
enum __attribute__((packed)) small { J, K } sa;
enum unknown { L = sizeof(struct { char c[3]; }), M } ua;
struct  vsc_tag1 { enum small a, b; enum plain c; };  vsc_word st;
 vsc_word spread;
int f( vsc_word p, vsc_word b, vsc_word g, vsc_word m, vsc_word s, vsc_word u
                            , vsc_word i)
{
 vsc_write4((p), (enum plain)( B)), vsc_write4((b), (enum bits)( D)), vsc_write8((g), (enum big)( G)), vsc_write8((m), (enum mixed)( H)), ({ enum small vsc_t5 =  K; vsc_write((s), &vsc_t5, sizeof vsc_t5); }), ({ enum unknown vsc_t6 =  M; vsc_write((u), &vsc_t6, sizeof vsc_t6); });
 vsc_get4(&( pa), (p)), vsc_get4(&( ba), (b)), vsc_get8(&( ga), (g)), vsc_get(&( sa), (s), sizeof(enum small)), vsc_get(&( ua), (u), sizeof(enum unknown));
 vsc_put4((p), (enum plain)( A)), vsc_put8((g), (enum big)( F)), ({ enum small vsc_t14 =  J; vsc_store((s), &vsc_t14, sizeof vsc_t14); }), ({ enum small vsc_t15 =  K; vsc_put((s), &vsc_t15, sizeof vsc_t15); });
 ({ enum small vsc_t17 =  (({ enum small vsc_t16 =  J; vsc_write( ( st + __builtin_offsetof(struct vsc_tag1, b)), &vsc_t16, sizeof vsc_t16); vsc_t16; })); vsc_write( vsc_spread_add( spread, (long)(3), sizeof(enum small)), &vsc_t17, sizeof vsc_t17); });
 vsc_write4( ( st + __builtin_offsetof(struct vsc_tag1, c)), (enum plain)( A));
    i = p, u = i;
    return ((enum plain)vsc_read4((p))) + ((enum bits)vsc_read4((b))) + ((enum big)vsc_read8((g))) + ((enum mixed)vsc_read8((m))) + ({ enum small vsc_t23; vsc_read(&vsc_t23, (s), sizeof vsc_t23); vsc_t23; }) + ({ enum unknown vsc_t24; vsc_read(&vsc_t24, (u), sizeof vsc_t24); vsc_t24; });
}
# 1 "<splitcc>"
static void vsc_allocate_statics(void) {
  vsc_static_spread(&spread, (unsigned long)( 4), sizeof(enum small), "spread", "enumerations.sc", 9);
}
static struct vsc_unit vsc_this_unit = {0, vsc_allocate_statics};
static void __attribute__((__constructor__)) vsc_construct_unit(void) {
  vsc_register_unit(&vsc_this_unit);
}
