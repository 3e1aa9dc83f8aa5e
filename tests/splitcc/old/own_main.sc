/* Functions of the program that have names of the C library's or of Split-C's, and other types: they count before their
 * definitions, in declarations inside functions, and in the other file. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <split-c/split-c.h>

enum kind { select, bulk_get = 7, y0 } kind = y0;
int synced;
char *name;
double y1 = 2;

inner()
{
    int round(), all_scan_add();
    extern double y1;

    return round(5, 2) + all_scan_add(2, 3) + y1;
}

again() { int round(); return round(7, 2); }

splitc_main()
{
    sync(3);
    if (synced != 3 || log2(9) != 4 || ffs(9) != 109) exit(1);
    if (inner() != 7 + 6 + 2 || again() != 9) exit(2);
    if (others() != 5 + 6) exit(3);
    if (select != 0 || kind != bulk_get + 1) exit(5);
    round(1, 1);
    if (strcmp(name, "round") || strcmp("in " __FUNCTION__, "in splitc_main")) exit(4);
    barrier();
}

sync(n) { synced = n; }
int log2(n) { int l = 0; while ((1 << l) < n) l++; return l; }
getline(n) { return n + 1; }
ffs(n) { return n + 100; }
int round(a, b) { name = __FUNCTION__; assert(name[0] == 'r'); return a + b; }
int all_scan_add(a, b) { return a * b; }
