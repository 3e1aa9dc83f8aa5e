struct s { const int c; int b : 3; };
enum e { E1, E2 } en;
_Static_assert(1.5, "number");
_Static_assert(sizeof(int *global) == 8, 3);
struct t { _Static_assert(undeclared, "x"); int m; };
_Alignas(undeclared) int aligned;
int f(int *global g, struct s *p, int n)
{
    n = _Generic(g, char *global: 1, int *: 2);
    n = _Generic(p->b + 0, int: *g, default: 0);
    n = _Generic(en, int: *g, default: 0);
    n = _Generic(undeclared, int: *g, default: 0);
    n = _Generic(1 int: *g);
    n = _Generic(1, unknown: *g);
    n = _Generic(1);
    n = __builtin_types_compatible_p(int *global [n], int *global [3]);
    n = __builtin_choose_expr(n == 4, g, 5) == g;
}
