static __thread int *global of_thread;
_Alignas(64) int *global a, __attribute__((aligned(32))) *global b, __attribute__((unused)) c, *global d __attribute__((unused));
int x, (__attribute__((unused)) *global inside);
__attribute__((unused, mode(SI))) const struct q { int k; int *global g; } begun = { 3, &x };
__attribute__((aligned(64))) int *global const volatile changed = &x;
int *global __attribute__((aligned(32))) at_star, *global const *__attribute__((unused)) at_stars;
struct __attribute__((packed)) p { char c; __attribute__((packed)) int *global g; } __attribute__((aligned(16))) *global pp;
struct q __attribute__((section("own"))) *global tagged;
typedef __attribute__((aligned(16))) int *global aligned_word;
_Noreturn static __attribute__((noinline)) int *global none(void) { for (;;); }
__attribute__((malloc, returns_nonnull)) int *global promised(void);
int f(__attribute__((unused)) int *global u, register int *global v __attribute__((unused))) { return 0; }
__attribute__((unused)) static int A[4]::, B[2]:: __attribute__((visibility("hidden")));
int g(u) const __attribute__((unused)) int *global u;
{
    __attribute__((unused)) int D[4]::, E[2]:: __attribute__((unused));
    __attribute__((unused)) static int *global stays = &x;
    return *tolocal(changed);
}
