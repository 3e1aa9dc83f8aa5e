/* Only gcc knows the size of some enumerations. */
enum plain { A, B = 'b', C = -3 } pa, *pp;
enum bits { D = 0x80000000, E = 0xffffffff } ba;
enum big { F = 1, G = 0x10000000000L } ga;
enum mixed { H = -1, I = 0xffffffff } ma;
enum __attribute__((packed)) small { J, K } sa;
enum unknown { L = sizeof(struct { char c[3]; }), M } ua;
struct { enum small a, b; enum plain c; } *global st;
enum small spread[4]::;
int f(enum plain *global p, enum bits *global b, enum big *global g, enum mixed *global m, enum small *global s,
      enum unknown *global u, int *global i)
{
    *p = B, *b = D, *g = G, *m = H, *s = K, *u = M;
    pa := *p, ba := *b, ga := *g, sa := *s, ua := *u;
    *p := A, *g := F, *s :- J, *s := K;
    spread[3] = st->b = J;
    st->c = A;
    i = p, u = i;
    return *p + *b + *g + *m + *s + *u;
}
