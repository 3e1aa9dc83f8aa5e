# 1 "attributes.sc"
 static __thread vsc_word of_thread;
 vsc_word  _Alignas ( 64 ) a; vsc_word  _Alignas ( 64 ) __attribute__(( aligned ( 32 ))) b;  _Alignas(64) int  __attribute__((unused)) c; vsc_word  _Alignas ( 64 ) d __attribute__(( unused)) ;
  int  x; vsc_word __attribute__(( unused)) inside;
                                        struct q { int k; vsc_word g; };  __attribute__(( unused)) struct q begun =  { 3, (vsc_word)( &x) }; VSC_OWN vsc_own1 = (vsc_word *)&begun.g;
 volatile  __attribute__(( aligned ( 64 ))) vsc_word changed =  (vsc_word)( &x); VSC_OWN vsc_own2 = (vsc_word *)&changed;
 __attribute__(( aligned ( 32 ))) vsc_word at_star; const vsc_word *__attribute__(( unused)) at_stars;
struct __attribute__((packed)) p { char c; vsc_word __attribute__(( packed)) g; } __attribute__((aligned(16)));  vsc_word pp;
 vsc_word __attribute__(( section ( "own" ))) tagged;
 typedef vsc_word __attribute__(( aligned ( 16 ))) aligned_word;
 static _Noreturn vsc_word __attribute__(( noinline)) none ( void ) { for (;;); }
 vsc_word promised ( void );
int f( vsc_word __attribute__(( unused)) u, register vsc_word v __attribute__(( unused)) ) { return 0; }
 static vsc_word __attribute__(( unused)) A; static vsc_word __attribute__(( unused)) B __attribute__(( visibility ( "hidden" ))) ;
int g(u) vsc_word __attribute__(( unused)) u;
{
 typedef char vsc_g331[vsc_procs()] __attribute__((__unused__)); vsc_word __attribute__(( unused)) D __attribute__((__cleanup__(vsc_auto_free))) = vsc_auto_spread((unsigned long)( 4), sizeof(int), "D", "attributes.sc", 16); typedef char vsc_g337[vsc_procs()] __attribute__((__unused__)); vsc_word __attribute__(( unused)) E __attribute__((__cleanup__(vsc_auto_free))) __attribute__(( unused))  = vsc_auto_spread((unsigned long)( 2), sizeof(int), "E", "attributes.sc", 16);
 static vsc_word __attribute__(( unused)) stays =  (vsc_word)( &x); VSC_OWN vsc_own3 = (vsc_word *)&stays;
    return * ((int *)vsc_local(changed));
}
# 1 "<splitcc>"
static void vsc_allocate_statics(void) {
  vsc_static_spread(&A, (unsigned long)( 4), sizeof(int), "A", "attributes.sc", 13);
  vsc_static_spread(&B, (unsigned long)( 2), sizeof(int), "B", "attributes.sc", 13);
}
static struct vsc_unit vsc_this_unit = {0, vsc_allocate_statics};
static void __attribute__((__constructor__)) vsc_construct_unit(void) {
  vsc_register_unit(&vsc_this_unit);
}
