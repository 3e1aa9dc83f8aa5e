/* What -std=gnu99 and -std=gnu11 allow. */
#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) \
    do { if (!(what)) { printf("%d: line %d: %s\n", MYPROC, __LINE__, #what); exit(1); } } while (0)

int A[4]::;

void copy(int *restrict to, const int *restrict from, int *global restrict g, int *global *restrict h) { *to = *from; }
_Atomic(int) counter;
_Atomic int other;
_Atomic(int *global) word;
struct s { _Atomic(long) l; } elements[2]::;
unsigned short u16[] = u"ab", joined[] = "a" u"b";
unsigned u32[] = U"abc";
char u8s[] = u8"\u00e9";

void words(void)
{
    int *global g = &A[1];
    _Atomic(int) *global ag = (_Atomic(int) *global) &counter;
    int x = 3, y;

    copy(&y, &x, g, &g); CHECK(y == 3);
    counter++, other = 2, word = g;
    CHECK(counter == 1 && other == 2 && word == g && *ag == 1 && sizeof(_Atomic(int)) == 4);
    CHECK(sizeof u16 == 6 && sizeof u32 == 16 && sizeof u8s == 3 && sizeof joined == 6 && sizeof u"ab" == 6);
    CHECK(sizeof u'x' == 2 && sizeof U'x' == 4 && u'x' == 'x');
    CHECK(_Generic(u'x', unsigned short: g, default: 0) == g && _Generic(u8"a", char *: g, default: 0) == g);
    CHECK(_Generic(U"a", unsigned *: g, int *: 0) == g && _Generic(u"a" "b", unsigned short *: g, default: 0) == g);
    if (MYPROC == 0) elements[1].l = 5;
    barrier();
    CHECK(elements[1].l == 5);
}

void loops(void)
{
    int r = 0, i = 7;

    for (int *global h = &A[0], i = 0; i < 3; i++) r += h == &A[0];
    CHECK(r == 3 && i == 7);
    for (int i = 0, *global h = &A[1], j; i < 9; i++) {
        if (i == 1) continue;
        if (i == 4) break;
        j = 10, r += h == &A[1] ? j : 0;
    }
    CHECK(r == 33);
    if (r == 33)
        for (int *spread s = A, *spread e = A + 4; s < e; s++)
            for (struct { int k; } one = { 2 }, *global g = &one; one.k > 0; g->k--) r++;
    else
        r = 0;
    CHECK(r == 41);
    i = 0;
again:
    for (int n = 2, *global h = &A[0]; n > 0; n--) i += h == A;
    if (i < 4) goto again;
    for (int B[PROCS]::, k = 0; k < PROCS; k++) {
        B[k] = k;
        CHECK(B[k] == k);
    }
    switch (i) {
    case 4:
        for (int *global h = &A[0], *p = &r; *p > 40; --*p)
        default: i++;
    }
    CHECK(i == 5 && r == 40 && ({ for (int a = 0, *global h = &A[2]; a < 2; a++) r += h == &A[2]; r; }) == 42);
}

int splitc_main(void)
{
    words();
    loops();
    barrier();
    return 0;
}
