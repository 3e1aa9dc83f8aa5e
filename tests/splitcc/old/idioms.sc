/* Usages of the time that are right, each of which a compiler of today warns of. */
#include <stdlib.h>
#include <split-c/split-c.h>
#define NULL 0
#define on_one if (MYPROC == 0)

int grid[4][3]::[2][2];
int total(int *spread first, int n) { return *first + n; }
int row(int *values) { return values[1]; }
int compare(int *a, int *b) { return *a - *b; }
int fmin(int a, int b) { return a < b ? a : b; }
int fmax();
typedef struct cell { int value; };
counter;
#if 0
The apostrophe in this text isn't closed.
#endif
volatile void die();
volatile void die(code) { exit(code); }
void leave(int code) { if (code) return exit(code); return 0; }

splitc_main(argc, argv)
char **argv;
{
    int *spread first = grid, table[3][5], *p = table;
    int *global corner = table;
    struct cell c;

    table[0][1] = 7;
    barrier();
    if (first != grid || *corner != table[0][0]) exit(2);
#ifdef NEVER
    on_one return 1;
#else NEVER
    on_one first[0] = 5;
#endif NEVER
    barrier();
    if (total(grid, 2) != 7 || row(table) != 7 || p[1] != 7) exit(3);
    if (strlen("four") != 4) exit(4);
    qsort(p, 5, sizeof(int), compare);
    c.value = fmin(3, 2);
    if (c.value != 2 || counter != NULL) die(5);
    for (counter = 0; counter < 4; counter++) c.value += corner[counter];
#undef NULL
#define NULL ((void *) 0)
    c.value = NULL;
    leave(c.value == NULL ? 0 : 6);
}
