/* What programs seldom do: bit-fields of other processes, global pointers that are initialized
 * statically, names for types of spread arrays, gets that convert, calls before definitions. */
#include <pthread.h>
#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) \
    do { if (!(what)) { printf("%d: line %d: %s\n", MYPROC, __LINE__, #what); exit(1); } } while (0)

struct flags { unsigned a : 3; int b : 5; unsigned c : 8; char d; unsigned long wide : 40; } flags[4]::;

int x = 4, table[10];
int *global to_x = &x, *global third = table + 3;
char *global text = "hello";
static struct { int n; int *global g[2]; } list[2] = { { 1, { &x } }, 2, &table[1], &x };

typedef int numbers[PROCS]::;
typedef double blocks[3]::[4];
blocks B;

bit_fields()
{
    struct flags *global p = &flags[1];
    int first = 0;

    if (MYPROC == 0) {
        p->a = 5, flags[1].b = -3, p->c = 200;
        p->d = 'd';
        first = p->a++ * 10 + ++p->a;           /* 5 and 7 */
        flags[1].c += 60;                       /* 260 in 8 bits */
        p->wide = 0x123456789aUL;
        p->b := 4;
        sync();
        CHECK(p->a-- - 9 < 0 && p->a++ == 6);   /* promoted as a bit-field is: to int */
        CHECK(-p->wide++ == (1UL << 40) - 0x123456789aUL && p->wide-- == 0x123456789bUL);
    }
    barrier();
    CHECK(first == (MYPROC == 0 ? 57 : 0));
    CHECK(p->a == 7 && p->b == 4 && p->c == 4 && p->d == 'd' && p->wide == 0x123456789aUL);
    barrier();
    if (MYPROC < 4) flags[MYPROC].a = MYPROC;   /* nobody touches another's bits */
    flags[3].d = 'e';
    barrier();
    CHECK(flags[3 % PROCS].a == 3 % PROCS && flags[3].d == 'e');
}

int moving[9]::, other[9]::;

int last(int n, int P[n]::) { P += n - 1; return *P; }

int first(P) register int P[9]::;
{
    int i = 0;
    while (*P++ != 5) i++;
    CHECK(sizeof P == sizeof(int *spread));
    P = other;
    return i * 10 + P[2];
}

/* A parameter that is declared as a spread array is a spread pointer. */
moved_parameters()
{
    if (MYPROC == 0) moving[8] = 4, moving[3] = 5, other[2] = 7;
    barrier();
    CHECK(last(9, moving) == 4 && first(moving) == 37);
}

typedef int four __attribute__((vector_size(16)));
four fours[PROCS]::;

vectors()
{
    four mine = { 1, 2, 3, MYPROC }, *global g = &fours[(MYPROC + 1) % PROCS], sum;

    fours[MYPROC] = mine;
    barrier();
    sum = *g + mine * fours[PROCS - 1];
    CHECK(sum[0] == 2 && sum[2] == 12 && sum[3] == (MYPROC + 1) % PROCS + MYPROC * (PROCS - 1));
    CHECK((*g)[1] == 2 && fours[PROCS - 1][3] == PROCS - 1);
}

initialized()
{
    static int *global mine = &table[2];

    CHECK(to_x == &x && *to_x == 4 && toproc(to_x) == MYPROC);
    CHECK(third - mine == 1 && toproc(mine) == MYPROC);
    CHECK(text[1] == 'e' && tolocal(text)[4] == 'o');
    CHECK(list[0].g[0] == &x && list[0].g[1] == NULL && list[1].g[0] == &table[1]);
    CHECK(list[1].n == 2 && list[1].g[1] == to_x);
}

#define OWN(g, p) CHECK(toproc(g) == MYPROC && tolocal(g) == (p))

/* Global pointers that are const: the runtime adds the process to them all the same. */
typedef int *global G;
typedef int *global const CG;
typedef struct { int n; G g; } pair;
extern const G declared;
const struct { int *global g; int k; } cs = { &x, 3 };
static int *global const both[2] = { &x, table };
const G declared = &x;
CG by_name = &x, nowhere = 0;
int *global volatile changing = &x;
int *global const volatile fixed = table;
const pair pairs[] = { 1, &x, 2, table };
struct { int *global const a; int *global volatile b; } parts = { &x, table };
int *global const *to_const = &declared;

constants()
{
    static int *global const inner = &x;
    static const pair inner_pair = { 1, &table[3] };

    OWN(cs.g, &x); OWN(both[0], &x); OWN(both[1], table); OWN(declared, &x); OWN(by_name, &x);
    OWN(changing, &x); OWN(fixed, table); OWN(pairs[1].g, table); OWN(parts.a, &x); OWN(parts.b, table);
    OWN(*to_const, &x); OWN(inner, &x); OWN(inner_pair.g, table + 3);
    CHECK(*declared == 4 && cs.k == 3 && nowhere == NULL && sizeof pairs / sizeof *pairs == 2);
}

/* Words and attributes around a global pointer's declaration. */
static __thread int *global of_thread;
_Alignas(64) int *global aligned_a, __attribute__((aligned(64))) *global aligned_b;
__attribute__((aligned(64))) const struct { int k; int *global g; } aligned_c = { 3, &x };
struct packed { char c; __attribute__((packed)) int *global g; };
struct wide { char c; int *global __attribute__((aligned(32))) g; };
typedef __attribute__((aligned(16))) int *global wide_word;
struct wider { char c; wide_word g; } __attribute__((aligned(64))) *global to_wider;
struct wider __attribute__((aligned(64))) *global tagged;

void *other_thread(void *p) { of_thread = NULL; return p; }

words_kept()
{
    pthread_t t;
    static __attribute__((aligned(64))) int *global const inner = &x;

    of_thread = &x;
    pthread_create(&t, NULL, other_thread, NULL);
    pthread_join(t, NULL);
    CHECK(of_thread == &x);
    CHECK(((long) &aligned_a | (long) &aligned_b | (long) &aligned_c | (long) &inner | (long) &tagged) % 64 == 0);
    CHECK(sizeof(struct packed) == 9 && sizeof(struct wide) == 64 && sizeof *to_wider == 64);
    OWN(aligned_c.g, &x); OWN(inner, &x);
}

/* Type names where gcc's words have them, and choices by type. */
_Static_assert(sizeof(int *global) == 8 && __alignof__(int *spread) == 8, "a word");
struct typed { char c; _Alignas(int *global) char d; _Static_assert(sizeof(int *spread[2]) == 16, "two" " words"); int a[3]; };
__typeof__(int *global) typed_file = &x;
typedef __typeof__(int *global (*)(int *spread)) typed_function;
int typed_array[4]::, typed_calls;
int *global typed_id(int *spread s) { return s; }
typed_call() { return typed_calls++; }
#define KIND(e) _Generic(e, int *global: 1, int *spread: 2, int *: 3, const int *global: 4, volatile int *global: 5, \
    char *global: 6, int *global *global: 7, int (*global)[3]: 8, int: 9, double: 11, long long: 12, \
    unsigned long long: 13, long: 14, int *global (*)(int *spread): 15, struct flags *global: 16, default: 0)

type_names()
{
    int *global g = &typed_array[1], *global const kg = g, *global *global gg = NULL, (*global row)[3] = NULL;
    const int *global cg = g;
    volatile int *global vg = g;
    __typeof__(int *global [2]) two = { g, &typed_array[2] };
    typed_function id = typed_id;
    long long ll = 1;

    _Static_assert(sizeof two == 16, "two words");
    OWN(typed_file, &x);
    CHECK(two[0] == g && id(typed_array) == &typed_array[0] && sizeof(struct typed) == 24);
    CHECK(__builtin_offsetof(struct { char c; int *global q; }, q) == 8);
    CHECK(__builtin_offsetof(struct typed, a[sizeof(int *global) / 8]) == 16);

    CHECK(KIND(g) == 1 && KIND(&typed_array[1]) == 2 && KIND(typed_array) == 2 && KIND(&x) == 3 && KIND(cg) == 4);
    CHECK(KIND(vg) == 5 && KIND((char *global) g) == 6 && KIND(gg) == 7 && KIND(*gg) == 1 && KIND(row) == 8);
    CHECK(KIND(*g) == 9 && KIND(*cg) == 9 && KIND(2.0) == 11 && KIND(sizeof g) == 0 && KIND(1LL) == 12);
    CHECK(KIND(ll + 1UL) == 13 && KIND(g - g) == 14 && KIND(id) == 15 && KIND(typed_id) == 15 && KIND(kg) == 1);
    CHECK(KIND((struct flags *global) 0) == 16 && KIND(id(typed_array)) == 1 && KIND(toproc(g)) == 9);

    barrier();
    if (MYPROC == 0) {
        _Generic(*g, int: *g, default: x) = 7; CHECK(*g == 7);
        _Generic(g, int *global: typed_array[2], default: x) += 8; CHECK(typed_array[2] == 8);
        CHECK(_Generic(typed_call(), int: *g, default: 0) == 7 && _Generic(*g, default: typed_call(), int: *g) == 7);
        CHECK(typed_calls == 0);
        CHECK(_Generic(1.0f, float: typed_id, default: typed_id)(typed_array) == &typed_array[0]);
        CHECK(&_Generic(1, int: *g, default: 3) == g && _Generic(1, int: g + 1, default: g) - g == 1);
    }
    CHECK(!__builtin_types_compatible_p(int *global, int *spread) && __builtin_types_compatible_p(__typeof__(g), int *global const));
    CHECK(__builtin_choose_expr(0, 1, g) == g && __builtin_choose_expr(1, g, 5) == kg);
    barrier();
}

/* Parts of complex numbers in other processes. */
_Complex double complex_numbers[4]::;

complex_parts()
{
    _Complex double *global g = (_Complex double *global) &complex_numbers[3];
    double *global part, d;

    barrier();
    if (MYPROC == 0) {
        *g = 1.5;
        __imag__ *g = 5, __real__ complex_numbers[3] += 2;
        part = &__imag__ *g;
        CHECK(__imag__ *g == 5 && __real__ *g == 3.5 && *part == 5 && part - &__real__ *g == 1);
        __imag__ *g := 7; sync();
        d := __imag__ complex_numbers[3]; sync();
        CHECK(d == 7 && (__imag__ *g)++ == 7 && -__imag__ *g == -8);
        __real__ *g :- 4;
    }
    all_store_sync();
    barrier();
    CHECK(*g == 4 + 8 * 1.0i);
    barrier();
}

/* Initializers without the inner braces, and with designators. */
struct point { long x, y; };
struct rest { struct point a; int *global g; long b; } rest = { 1, 0, &x, 4 };
struct { int a[2]; int *here; int *global g; } arrays[2] = { 1, 2, &x, table, 3, 4, 0, &x };
struct { char names[2][3]; int *global g; } strings = { "ab", "c", table };
struct { int m[2][2]; struct { union { int *global g; long l; }; int k; } u[2]; int *global last; }
    unions = { { 1, 2, 3, 4 }, &x, 5, table, 6, &table[1] };
struct { int a[3]; int *global g; int b; } named[4] =
    { [1] = { .g = &x, 7 }, [2].a[1] = 8, 9, &table[2], 10, [3] = { g: (int *global) &x, b:-1 } };
int *global filled[5] = { [1 ... 3] = table, &x };

flat()
{
    int i;
    struct point p;
    struct rest local = { 1, 2, &table[1], 4 }, *whole;
    struct { char name[4]; struct point p; int *global g, *global h; } t[] = { "abc", 5, 6, &x, 0, "d" };

    OWN(rest.g, &x); OWN(arrays[0].g, table); OWN(arrays[1].g, &x); OWN(strings.g, table);
    CHECK(rest.a.y == 0 && rest.b == 4 && arrays[0].here == &x && arrays[1].a[1] == 4);
    CHECK(strings.names[0][1] == 'b' && strings.names[1][0] == 'c');
    OWN(unions.u[0].g, &x); OWN(unions.u[1].g, table); OWN(unions.last, table + 1);
    CHECK(unions.m[1][1] == 4 && unions.u[0].k == 5 && unions.u[1].k == 6);
    OWN(named[1].g, &x); OWN(named[2].g, table + 2); OWN(named[3].g, &x);
    CHECK(named[1].b == 7 && named[2].a[2] == 9 && named[2].b == 10 && named[3].b == -1 && !named[0].g);
    for (i = 1; i < 4; i++) OWN(filled[i], table);
    OWN(filled[4], &x);
    CHECK(filled[0] == NULL);
    OWN(local.g, &table[1]); OWN(t[0].g, &x);
    CHECK(local.a.y == 2 && local.b == 4 && t[0].p.y == 6 && t[1].name[0] == 'd' && sizeof t == 2 * sizeof *t);
    p.x = 11, p.y = 12;
    {
        struct rest by_value = { p, &x, 3 }, more[] = { p, table, 4, local };
        whole = &more[1];
        CHECK(by_value.a.y == 12 && by_value.b == 3 && more[0].a.x == 11 && more[0].b == 4 && whole->b == 4);
        OWN(by_value.g, &x); OWN(more[0].g, table); OWN(whole->g, &table[1]);
    }
}

int sum(numbers n)
{
    int i, all = 0;
    for (i = 0; i < PROCS; i++) all += n[i];
    return all;
}

types()
{
    numbers own;
    int *spread begin = &own;

    own[MYPROC] = MYPROC + 1;
    if (MYPROC == 0) B[2][3] = 2.5;
    barrier();
    CHECK(sum(own) == PROCS * (PROCS + 1) / 2 && begin == own && &B[0] == &B);
    CHECK(B[2][3] == 2.5);
    barrier();
}

converting_gets()
{
    double d;
    char c;
    short s;

    barrier();
    if (MYPROC == 0) flags[1].c = 77, B[1][0] = 65.5;
    barrier();
    c := B[1][0];
    d := flags[1].c;
    s := flags[1].d;
    sync();
    CHECK(c == 'A' && d == 77 && s == 'd');
}

/* Conditionals, commas and casts that are assigned to, as gcc 2 allowed. */
struct s { int v; int arr[3]; struct { char c; } in; unsigned b : 3; } a, b;
int elements[2]::;

chosen_here()
{
    int i = 1, t, y = 0, z = 0, *ip = &y, *ip2 = &z, *global g1 = &y, *global g2 = &z;
    register int r = 0, q = 0;
    register struct s rs;

    rs.v = 0;
    (y++, z) = 3; CHECK(y == 1 && z == 3);
    *&(y++, z) = 4; CHECK(y == 2 && z == 4);
    (y, z)++; CHECK(z == 5 && ++(y, z) == 6);
    (i ? r : q) = 3; CHECK(r == 3 && !q);
    (i ? (z++, y) : z) = 10; CHECK(y == 10 && z == 7);
    (i ? a : b).v = 3; (i = 0, b).v = 4; CHECK(a.v == 3 && b.v == 4);
    (i ? a : b).in.c = 7; (i ? a : b).b = 5; (i ? a : b).arr[1] = 9;
    CHECK(b.in.c == 7 && b.b == 5 && b.arr[1] == 9 && a.arr[1] == 0);
    (i ? a : rs).v = 5; t = *&(i ? a : b).v; CHECK(rs.v == 5 && t == 4);
    (i ? ip : ip2) = &t; CHECK(ip2 == &t && ip == &y);
    (i ? g1 : g2) = toglobal(0, &x); CHECK(g2 == toglobal(0, &x));
    (i, g2)++; (i, g2) += 2; CHECK(tolocal(g2) == &x + 3);
    (i ? a : b) = rs; CHECK(b.v == 5);
}

casts_here()
{
    int y = 0, *ip;
    long l = 0;
    double d;
    float f;

    (char) y = 0x141; CHECK(y == 0x41);
    CHECK(((char) y = 300) == 44 && y == 44);
    (long) y = 4; CHECK(y == 4);
    (unsigned char) y += 255; CHECK(y == 3);
    ((char) l)++; CHECK(l == 1 && ((char) l)-- == 1 && l == 0);
    (int) d = 3.7; (int) f = 2.5; (float) y = 2.5; CHECK(d == 3 && f == 2 && y == 2);
    (short) d += 1.5; CHECK(d == 4);
    (char *) ip = "abc"; ((char *) ip)++; CHECK(*(char *) ip == 'b');
}

chosen_elsewhere()
{
    int i = 1, t;
    struct s *global g = toglobal(0, &a), *global h = toglobal(0, &b);
    int *global q;

    barrier();
    if (MYPROC == PROCS - 1) {
        g->v = 3, h->v = 5, h->arr[1] = 9;
        CHECK((i ? *g : *h).v == 3 && (!i ? *g : *h).arr[1] == 9);
        (i ? *g : *h).v = 30; (i = 0, *h).v += 4; CHECK(g->v == 30 && h->v == 9);
        (i ? *g : *h).in.c = 3; (i ? *g : *h).arr[2] = 8; (i ? *g : *h).b = 2;
        CHECK(h->in.c == 3 && h->arr[2] == 8 && h->b == 2);
        *&(i ? *g : *h).v = 2; CHECK(h->v == 2);
        (i ? elements[0] : elements[1]) = 5; CHECK(elements[1] == 5 && elements[0] == 0);
        (i++, elements[0]) = 6; CHECK(elements[0] == 6 && i == 1);
        (i ? elements[0] : elements[1]) += 5; CHECK((i ? elements[0] : elements[1])++ == 11 && elements[0] == 12);
        (char) elements[0] = 0x104; ((char) elements[0])++; (short) elements[0] *= 3; CHECK(elements[0] == 15);
        (unsigned) elements[0] = 7; CHECK(elements[0] == 7);
        (i ? elements[0] : elements[1]) := 8; sync();
        (i, t) := elements[0]; sync(); CHECK(t == 8);
        (i ? elements[0] : elements[1]) :- 9;
        q = &(i, elements[1]); CHECK(toproc(q) == 1 % PROCS && toproc(&(i ? elements[0] : elements[1])) == 0);
        for (i = 0; i < 2; i++) (i == 1 ? elements[i] : elements[0]) = i + 20;
    }
    all_store_sync();
    barrier();
    CHECK(elements[1] == 21);
    g = toglobal(0, &a), h = toglobal(PROCS - 1, &b), q = tolocal(&elements[0]), i = 0;
    CHECK(1[elements] == 21 && &1[q] == q + 1 && (&i)[0] == 0[&i]);
    CHECK((g ?: h) == g && ((struct s *global) 0 ?: h) == h && (h ?: (struct s *) 0)->v == h->v);
    CHECK((tolocal(g) ?: h) == toglobal(MYPROC, &a) && ((struct s *) 0 ?: h) == h && (i++, g ?: h) == g && i == 1);
    barrier();
}

calls()
{
    int here = MYPROC, *p = &here;
    int *global owner();

    CHECK(later(p, 0) == MYPROC && later(&here, &here) == 2 * MYPROC);
    CHECK(toproc(owner(p)) == MYPROC);
}
later(g, h) int *global g, *global h; { return *g + (h ? *h : 0); }
int *global owner(g) int *global g; { return g; }
calls_again() { CHECK(toproc(owner(&x)) == MYPROC && owner(0) == NULL && later(&x, NULL) == 4); }

splitc_main()
{
    bit_fields(), moved_parameters(), vectors(), initialized(), constants(), words_kept(), type_names(), complex_parts(), flat(), types(), converting_gets(), chosen_here(), casts_here(), chosen_elsewhere(), calls(), calls_again();
    barrier();
    if (MYPROC == 0) printf("corners: passed\n");
}
