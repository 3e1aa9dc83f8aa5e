# 1 "declarations.sc"
struct  vsc_tag1 { int a; };  vsc_word p;  struct vsc_tag1   q;
       struct s { int a; vsc_word next; };  static vsc_word r;  static struct s   t =  { 3 };
        struct n { vsc_word next;  struct n  *here; };  typedef vsc_word nptr;  typedef struct n   node; typedef vsc_word sptr;
nptr list; sptr spreads[2];
enum  vsc_tag2 { RED, GREEN };   enum vsc_tag2   color; vsc_word colors;
 vsc_word cp; const vsc_word cq =  0UL; volatile vsc_word vq;
 vsc_word *words [ 3 ] [ 4 ];
 vsc_word pa; vsc_word psa;
 vsc_word pf;
 vsc_word sa;
 vsc_word (*table [ 4 ]) ( vsc_word  , char );  int  *plain(int); vsc_word worded ( int n );  int  value;
 vsc_word deep;
  extern int  printf(const char *, ...); extern vsc_word from_elsewhere ( void );
 vsc_word register_first ( register vsc_word x , register y );
struct bits { unsigned a : 3, : 2, b; vsc_word p; unsigned c : 4; } __attribute__((packed));
union u { vsc_word g; vsc_word s; char bytes[8]; } either;
 vsc_word f ( a , b ) vsc_word a; register vsc_word b;
{
 auto vsc_word x =  0UL;  auto int  y =  sizeof(vsc_word);  auto int  *z =  &y;
 register vsc_word reg =  x;
 static vsc_word stays;
 extern vsc_word outside;
    struct inner { int v; vsc_word w; };   struct inner   one =  { 1, vsc_global( z) }; vsc_word two =  vsc_global( &one);
 vsc_write4( vsc_add((pa), (long)(3) * (long)(sizeof(int))), (int)( ((int)vsc_read4( vsc_add( vsc_add( pa, (long)(1) * (long)(((unsigned long)( 10) * sizeof(int)))), (long)(2) * (long)(sizeof(int))))) + ((int)vsc_read4( vsc_add(( vsc_spread_add(psa, (long)(4), ((unsigned long)( 2) * (unsigned long)( 3) * sizeof(int)))), (long)(1) * (long)(sizeof(int))))) + ((int)vsc_read4( vsc_add( vsc_add( vsc_spread_add( psa, (long)(1), ((unsigned long)( 2) * (unsigned long)( 3) * sizeof(int))), (long)(1) * (long)(((unsigned long)( 3) * sizeof(int)))), (long)(2) * (long)(sizeof(int)))))));
 vsc_write8( ( two + __builtin_offsetof(struct inner, w)),  vsc_read8( vsc_add((sa), (long)(1) * (long)(sizeof(vsc_word)))));
    t.next = vsc_read8( ( vsc_read8( ( r + __builtin_offsetof(struct s, next))) + __builtin_offsetof(struct s, next)));
    list = vsc_read8( ( list + __builtin_offsetof(struct n, next))), spreads[1] = vsc_spread_add( spreads[0], (long)( 1), sizeof(struct n));
 vsc_write4( vsc_spread_add( colors, (long)(3), sizeof(enum vsc_tag2)), (enum vsc_tag2)( GREEN));
    *words[1][2] = *words[0][1]; vsc_write1((*words[1][2]), (char)( 1));
    either.g = x, vsc_write4( vsc_spread_add( either.s, (long)(1), sizeof(int)), (int)( 2));
    return vsc_add( a, (long)( sizeof(struct inner)) * (long)(sizeof(double)));
}
# 1 "<splitcc>"
