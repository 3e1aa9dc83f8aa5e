# 1 "gnu.sc"
typedef __builtin_va_list va_list;
 vsc_word next ( vsc_word g );
void *labels[2];
int vla(int n, double m[n][n], vsc_word g)
{
    __label__ out;
    double local[n + ((int)vsc_read4((g)))], (*row)[n] = m;
    int map[] = { [2] = 5, [4 ... 6] = ((int)vsc_read4((g))), };
    static struct { int a, b; } named = { .b = 3, a: 4 };
    __typeof__( int ) copy = ((int)vsc_read4((g)));
    __typeof__(g) other = next(g);
    int nested(int x) { return x + ((int)vsc_read4((g))) + n; }
    void *const table[] = { &&one, &&out };
    goto *table[n & 1];
one:
    switch ( ((int)vsc_read4((g)))) {
    case 1 ... 3:
        return ({ int t = ((int)vsc_read4((g))); t + nested(t); });
    default:
        break;
    }
    copy = ((int)vsc_read4((g))) ?: 7;
    copy = ((int)vsc_read4((other))) ? sizeof(int) : __alignof__(int);
    asm volatile ("" : "=r"(copy) : "0"(n) : "memory");
    __real__ *(__complex__ double *)local = __builtin_fabs(m[0][1]);
out:
    return row[1][0] + map[1] + named.b + (long)__extension__ ({ ((int)vsc_write4((g), (int)( 3))); });
}
double sum(int n, ...)
{
    va_list args;
    double d = 0;
    __builtin_va_start(args, n);
    while (n-- > 0) d += vsc_read_d((__builtin_va_arg(args, vsc_word )));
    __builtin_va_end(args);
    return d;
}
# 1 "<splitcc>"
