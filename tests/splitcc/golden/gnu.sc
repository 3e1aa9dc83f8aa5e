typedef __builtin_va_list va_list;
int *global next(int *global g);
void *labels[2];
int vla(int n, double m[n][n], int *global g)
{
    __label__ out;
    double local[n + *g], (*row)[n] = m;
    int map[] = { [2] = 5, [4 ... 6] = *g, };
    static struct { int a, b; } named = { .b = 3, a: 4 };
    __typeof__(*g) copy = *g;
    __typeof__(g) other = next(g);
    int nested(int x) { return x + *g + n; }
    void *const table[] = { &&one, &&out };
    goto *table[n & 1];
one:
    switch (*g) {
    case 1 ... 3:
        return ({ int t = *g; t + nested(t); });
    default:
        break;
    }
    copy = *g ?: 7;
    copy = *other ? sizeof *other : __alignof__(*g);
    asm volatile ("" : "=r"(copy) : "0"(n) : "memory");
    __real__ *(__complex__ double *)local = __builtin_fabs(m[0][1]);
out:
    return row[1][0] + map[1] + named.b + (long)__extension__ ({ *g = 3; });
}
double sum(int n, ...)
{
    va_list args;
    double d = 0;
    __builtin_va_start(args, n);
    while (n-- > 0) d += *__builtin_va_arg(args, double *global);
    __builtin_va_end(args);
    return d;
}
