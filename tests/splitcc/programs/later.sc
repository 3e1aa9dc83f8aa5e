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

int splitc_main(void)
{
    words();
    barrier();
    return 0;
}
