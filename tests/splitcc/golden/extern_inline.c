# 1 "extern_inline.sc"
int declared( vsc_word ), other;
int pointed(const char *, int);
static int own();
static inline int vsc_inline_declared( vsc_word g) { return ((int)vsc_read4((g))); }
static inline vsc_inline_pointed(const char *text, int n) { return n ? vsc_inline_pointed(text + 1, n - 1) : *text; }
static inline int own() { return 9; }
static inline int alone(int x) { return x + 1; }
caller()
{
    int in_block();
    return in_block(1) + called_only(2) + vsc_inline_pointed("abc", 3);
}
__inline__ static int vsc_inline_in_block(int x) { return x + 100; }
static __inline__ vsc_inline_called_only(x) { return -x; }
extern int vsc_inline_declared( vsc_word );
int (*address)(const char *, int) = vsc_inline_pointed;

int later_1(int);
static inline int vsc_inline_later_1(int x) { return x * 2; }
extern inline int later_2(int x) { return x * 3; }
use() { return vsc_inline_later_1(1) + later_2(2); }
int later_1(int x) { return x * 2; }
int later_2(int x) { return x * 3; }
# 1 "<splitcc>"
extern __typeof__(vsc_inline_declared) declared __attribute__((__weak__, __alias__("vsc_inline_declared")));
extern __typeof__(vsc_inline_pointed) pointed __attribute__((__weak__, __alias__("vsc_inline_pointed")));
extern __typeof__(vsc_inline_in_block) in_block __attribute__((__weak__, __alias__("vsc_inline_in_block")));
extern __typeof__(vsc_inline_called_only) called_only __attribute__((__weak__, __alias__("vsc_inline_called_only")));
