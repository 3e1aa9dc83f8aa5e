int A[4]::, n;
_Static_assert(sizeof(int *global) == 8, "a word");
_Alignas(int *spread) int aligned;
struct s { char c; _Static_assert(sizeof(int *spread) == 8, "a" " word"); _Alignas(int *global) int m; };
__typeof__(int *global) whole(__typeof__(int *spread[2]) p);
struct r { char a; int b, c[2]; } R[4]::;
int f(int *global g, int *spread s, const struct r *of, const struct r *global all)
{
    __typeof__(int *global) h = g;
    _Static_assert(sizeof *g == 4, "an int");
    n = __builtin_offsetof(struct { int *global g[2]; }, g[*h]);
    n = __builtin_types_compatible_p(int *global, int *spread) + __builtin_types_compatible_p(int, int);
    _Generic(*g, int: *g, default: n) = 3;
    h = _Generic(g, int *spread: s,
                 int *global: g + 1,
                 default: 0);
    n = _Generic(n, int: 1, default: 2) + *_Generic(1, int: g, default: g) + _Generic(*g, int: n, default: 0);
    n = _Generic(&of->b, const int *: 1, int *: *g) + _Generic(&all->b, const int *global: 1, int *global: 0);
    n = _Generic(all->c, const int *global: 1, int *global: 0) + _Generic(&R[n].b, int *global: *g, default: 0);
    return _Generic((s), default: 0, int *spread: h - g);
}
int literal(void) { return sizeof (int[]){ 1, 2, 3 } + sizeof (int[]){ 1, 2 }[1]; }
