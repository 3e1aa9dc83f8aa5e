/* Heat in a rod of blocks, one block a process: borders by get, and their sums by store. */
#include <stdio.h>
#include <split-c/split-c.h>
#include <split-c/control.h>

#define CELLS 17
#define STEPS 25

double rod[64]::[CELLS];        /* of which the first PROCS blocks are used */
double borders[2];              /* sums of what came from the left and from the right */

splitc_main()
{
    double *mine = tolocal(&rod[MYPROC][0]);
    double next[CELLS], left, right, total;
    int i, t, p;

    if (PROCS > 64) return 2;
    for (i = 0; i < CELLS; i++)
        mine[i] = (MYPROC * CELLS + i) % 7;
    barrier();
    for (t = 0; t < STEPS; t++) {
        left = mine[0];
        right = mine[CELLS - 1];
        if (MYPROC > 0) left := rod[MYPROC - 1][CELLS - 1];
        if (MYPROC < PROCS - 1) right := rod[MYPROC + 1][0];
        sync();
        barrier();
        for (i = 0; i < CELLS; i++) {
            double a = i > 0 ? mine[i - 1] : left;
            double b = i < CELLS - 1 ? mine[i + 1] : right;

            next[i] = mine[i] + 0.25 * (a - 2 * mine[i] + b);
        }
        for (i = 0; i < CELLS; i++) mine[i] = next[i];
        borders[0] += left;
        borders[1] += right;
        barrier();
    }
    if (MYPROC > 0) *toglobal(0, &borders[0]) :- borders[0] + MYPROC;
    all_store_sync();
    total = 0;
    for (i = 0; i < CELLS; i++) total += mine[i];
    total = all_reduce_to_one_dadd(total);
    on_one {
        for (p = 0; p < PROCS; p++)
            for (i = 0; i < CELLS; i++) printf("%d %d %a\n", p, i, rod[p][i]);
        printf("total %a right %a %s\n", total, borders[1], borders[0] == 0 ? "none" : "some");
    }
    barrier();
}
