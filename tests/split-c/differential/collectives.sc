/* Every collective function; process 0 prints what all have got. */
#include <stdio.h>
#include <split-c/split-c.h>
#include <split-c/control.h>

double results[64]::[40];
int used;

note(x) double x; { results[MYPROC][used++] = x; }

splitc_main()
{
    double d = 1.0 / (MYPROC + 3);
    float f = 2.0f / (MYPROC + 5);
    int i = 17 * MYPROC - 3, k, p, v[64];
    unsigned u = 3000000000u + MYPROC;
    long l = -4000000000l * (MYPROC + 1);
    double w[64];

    note((double) all_reduce_to_all_add(i));
    note((double) all_reduce_to_all_mul(i));
    note((double) all_reduce_to_all_min(i));
    note((double) all_reduce_to_all_max(i));
    note((double) all_reduce_to_all_and(i));
    note((double) all_reduce_to_all_or(i));
    note((double) all_reduce_to_all_xor(i));
    note((double) all_reduce_to_all_uadd(u));
    note((double) all_reduce_to_all_umax(u));
    note((double) all_reduce_to_all_ladd(l));
    note((double) all_reduce_to_all_lmin(l));
    note((double) all_reduce_to_all_fadd(f));
    note((double) all_reduce_to_all_fmax(f));
    note(all_reduce_to_all_dadd(d));
    note(all_reduce_to_all_dmul(d));
    note(all_reduce_to_all_dmin(d));
    note(all_reduce_to_all_dmax(d));
    note(all_reduce_to_one_dadd(d));
    note((double) all_reduce_to_one_add(i));
    note((double) all_scan_add(i));
    note(all_scan_dadd(d));
    note(all_scan_dmax(d));
    note((double) all_bcast(i));
    note(all_bcast_d(d));
    note((double) all_bcast_l(l));
    v[0] = i;
    all_gather(v);
    w[0] = d;
    all_gather_d(w);
    for (k = p = 0; p < PROCS; p++) k = k * 31 + v[p];
    note((double) k);
    note(w[PROCS - 1]);
    barrier();
    on_one
        for (p = 0; p < PROCS; p++)
            for (k = 0; k < used; k++) printf("%d %d %a\n", p, k, results[p][k]);
    barrier();
}
