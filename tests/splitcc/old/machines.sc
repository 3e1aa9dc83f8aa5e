/* What programs took from the distributions and machines of the time, with split-c.h alone for the language. */
#include <stdio.h>
#include <stdlib.h>
#include <split-c/split-c.h>
#include <split-c/bulk.h>
#include <split-c/com.h>
#include <split-c/io.h>
#include <split-c/lib.h>
#include <split-c/timer.h>
#include <split-c/cm5/host.h>
#include <cm5/host.h>
#include <cm/cmmd.h>
#include <cm/cmmd-io.h>
#include <cm/timers.h>
#include <mpproto.h>
#include <nx.h>
#include <mpp/shmem.h>
#include <elan/elan.h>

long words[2];
int table[10]::;

splitc_main(argc, argv)
char **argv;
{
    int *in, *out, i, j, n, me;
    long mine[2];

    CMMD_fset_io_mode(stdout, CMMD_independent);
    CMMD_enable_host();
    CMMD_node_timer_clear(1);
    CMMD_node_timer_start(1);
    mpc_environ(&n, &me);
    if (n != PROCS || me != MYPROC || CMMD_self_address() != me || numnodes() != n || _my_pe() != me)
        exit(1);
    in = (int *)sc_malloc_wrapper(2 * n * sizeof(int));
    out = (int *)sc_malloc_wrapper(2 * n * sizeof(int));
    for (i = 0; i < 2 * n; i++) out[i] = 100 * me + i;
    mpc_index(out, in, 2 * sizeof(int), ALLGRP);
    for (i = 0; i < n; i++)
        for (j = 0; j < 2; j++)
            if (in[2 * i + j] != 100 * i + 2 * me + j) exit(2);
    mpc_concat(&me, in, sizeof(int), ALLGRP);
    for (i = 0; i < n; i++) if (in[i] != i) exit(3);
    i = me + 7;
    mpc_bcast(&i, sizeof(int), n - 1, ALLGRP);
    if (i != n - 1 + 7) exit(4);
    sc_free_wrapper(in);
    sc_free_wrapper(out);
    mine[0] = me;
    mine[1] = -me;
    shmem_put(words, mine, 2, (me + 1) % n);
    shmem_barrier_all();
    if (words[0] != (me + n - 1) % n || words[1] != -words[0]) exit(5);
    shmem_get(mine, words, 2, (me + n - 1) % n);
    if (mine[0] != (me + 2 * n - 2) % n) exit(6);
    for_my_1D(i, 10) table[i] = i;
    barrier();
    on_proc(n - 1) if (table[9] != 9) exit(7);
    CMMD_node_timer_stop(1);
    if (CMMD_node_timer_elapsed(1) < 0) exit(8);
    if (argc > 1) csend(1, argv, 4, 0, 0);
}
