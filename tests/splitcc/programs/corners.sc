/* What programs seldom do: bit-fields of other processes, global pointers that are initialized
 * statically, names for types of spread arrays, gets that convert, calls before definitions. */
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

initialized()
{
    static int *global mine = &table[2];

    CHECK(to_x == &x && *to_x == 4 && toproc(to_x) == MYPROC);
    CHECK(third - mine == 1 && toproc(mine) == MYPROC);
    CHECK(text[1] == 'e' && tolocal(text)[4] == 'o');
    CHECK(list[0].g[0] == &x && list[0].g[1] == NULL && list[1].g[0] == &table[1]);
    CHECK(list[1].n == 2 && list[1].g[1] == to_x);
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
    bit_fields(), initialized(), types(), converting_gets(), calls(), calls_again();
    barrier();
    if (MYPROC == 0) printf("corners: passed\n");
}
