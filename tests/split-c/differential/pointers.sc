/* Where spread and global pointers lead, element by element. Process 0 prints. */
#include <stdio.h>
#include <split-c/split-c.h>
#include <split-c/control.h>

typedef struct { char c[12]; } twelve;

static unsigned long state = 12345;
static int next(int limit)
{
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (int) ((state >> 33) % limit);
}

int splitc_main(int argc, char **argv)
{
    twelve *spread base = all_spread_malloc(100 * PROCS, sizeof(twelve));
    twelve *spread p;
    twelve *global g;
    char *first = (char *) tolocal(base);
    int i, step;

    on_one {
        p = base + 50 * PROCS;
        for (i = 0; i < 400; i++) {
            step = next(6 * PROCS + 1) - 3 * PROCS;
            switch (next(5)) {
            case 0: p += step; break;
            case 1: p -= step; break;
            case 2: p++; break;
            case 3: --p; break;
            case 4: p = step + p; break;
            }
            printf("%d: process %d, offset %ld, distance %ld, order %d%d\n", i, toproc(p),
                   (long) ((char *) tolocal(p) - first), (long) (p - base),
                   p < base + 50 * PROCS, p == base + 50 * PROCS);
            g = p;
            g += step;
            printf("  process %d, offset %ld, distance %ld\n", toproc(g),
                   (long) ((char *) tolocal(g) - first), (long) (g - (twelve *global) p));
            /* stay inside the array */
            if (p - base < 10 * PROCS || p - base > 90 * PROCS) p = base + 50 * PROCS;
        }
    }
    barrier();
    all_spread_free(base);
    return 0;
}
