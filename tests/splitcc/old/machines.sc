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
#include <ew/ew.h>
#include <mpsc/mpsc.h>
#include <csn/csn.h>
#include <cm/cmam.h>
#include <cmam/cmam.h>

long words[2], flag;
int table[10]::;

void longest(a, b, result, bytes)
char *a, *b, *result;
int *bytes;
{
    int i;

    for (i = 0; i < *bytes; i++) result[i] = a[i] > b[i] ? a[i] : b[i];
}

/* The sums and the like of the machines' own libraries. */
reductions(me, n)
{
    int one[2], all[2], sum = n * (n - 1) / 2;
    double x[2], work[2];
    char c = 'a' + me, most;

    if (CMMD_reduce_int(me, CMMD_combiner_add) != sum) exit(20);
    if (CMMD_reduce_uint(me, CMMD_combiner_umax) != n - 1) exit(21);
    if (CMMD_reduce_int(1 << me, CMMD_combiner_ior) != (1 << n) - 1) exit(22);
    if (CMMD_reduce_double(me + 0.5, CMMD_combiner_min) != 0.5) exit(23);
    if (CMMD_reduce_double(me + 0.5, CMMD_combiner_dadd) != sum + n * 0.5) exit(23);
    one[0] = me, one[1] = -me;
    mpc_combine(one, all, sizeof(one), i_vadd, ALLGRP);
    if (all[0] != sum || all[1] != -sum) exit(24);
    all[0] = -1;
    mpc_reduce(one, all, sizeof(one), n - 1, i_vmax, ALLGRP);
    if (all[0] != (me == n - 1 ? n - 1 : -1)) exit(25);
    mpc_prefix(one, all, sizeof(one), i_vadd, ALLGRP);
    if (all[0] != me * (me + 1) / 2) exit(26);
    mpc_combine(&c, &most, 1, longest, ALLGRP);
    if (most != 'a' + n - 1) exit(27);
    all[0] = -1;
    mpc_shift(&me, all, sizeof(int), 1, 0, ALLGRP);
    if (all[0] != me - 1) exit(28);
    mpc_shift(&me, all, sizeof(int), -1, 1, ALLGRP);
    if (all[0] != (me + 1) % n) exit(29);
    x[0] = me, x[1] = -me;
    gdsum(x, 2, work);
    if (x[0] != sum || x[1] != -sum) exit(30);
    x[0] = me;
    gdhigh(x, 1, work);
    if (x[0] != n - 1) exit(31);
}

/* Blocks of one process for all, and the reverse. */
blocks(me, n)
{
    int *all = (int *)malloc(n * sizeof(int)), one, i;

    for (i = 0; i < n; i++) all[i] = 10 * i + me;
    mpc_scatter(all, &one, sizeof(int), n - 1, ALLGRP);
    if (one != 10 * me + n - 1) exit(40);
    mpc_gather(&one, all, sizeof(int), 0, ALLGRP);
    for (i = 0; me == 0 && i < n; i++) if (all[i] != 10 * i + n - 1) exit(41);
    CMMD_concat_with_nodes(&me, all, sizeof(int));
    for (i = 0; i < n; i++) if (all[i] != i) exit(42);
}

/* A token goes round by shmem_swap and shmem_wait. */
token(me, n)
{
    long two[4];

    if (me != 0) shmem_wait(&flag, 0L);
    if (shmem_swap(&flag, 5L, (me + 1) % n) != 0) exit(50);
    if (me == 0) shmem_wait(&flag, 0L);
    if (flag != 5) exit(51);
    shmem_barrier_all();
    two[0] = me, two[1] = 0, two[2] = me + 1;
    shmem_iput(words, two, 1L, 2L, 2, (me + 1) % n);
    shmem_barrier_all();
    if (words[0] != (me + n - 1) % n || words[1] != words[0] + 1) exit(52);
    shmem_iget(two, words, 3L, 1L, 2, (me + 1) % n);
    if (two[0] != me || two[3] != me + 1) exit(53);
    shmem_barrier_all();
}

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
    ew_baseInit();
    ew_fgsync(0);
    CMAM_poll();
    reductions(me, n);
    blocks(me, n);
    token(me, n);
    CMMD_node_timer_stop(1);
    if (CMMD_node_timer_elapsed(1) < 0) exit(8);
    if (argc > 3) CMMD_node_timer_clear(64);
    if (argc > 2) CMAM_4(1, argv);
    if (argc > 1) csend(1, argv, 4, 0, 0);
}
