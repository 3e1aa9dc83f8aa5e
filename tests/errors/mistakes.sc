/* Mistakes that newcomers make in Split-C and that show when the program runs: as mistakes.cpp. Those that the compiler
   answers are in tests/splitcc/wrong/.   viaduct-run -n 2 errors_mistakes_sc NAME */
#include <stdlib.h>
#include <string.h>
#include <split-c/split-c.h>
#include <split-c/atomic.h>

int table[10]::;
int mine, seen;
splitc_lock_t turn;

/* Mistake: a global pointer that was never set */
void null_pointer(void)
{
    int *global g = 0;
    seen = *g; /* here */
}

/* Mistake: a process that the job does not have */
void process_beyond(void)
{
    int *global g = toglobal(MYPROC + 1, &mine);
    *g = 1; /* here */
}

/* Mistake: an index far beyond the array */
void index_beyond(void)
{
    int *spread p = table;
    if (MYPROC == 0) seen = p[9000000000000]; /* here */
}

/* Mistake: an array is freed twice */
void free_twice(void)
{
    int *spread p = (int *spread)all_spread_malloc(100, sizeof(int));
    all_spread_free(p);
    all_spread_free(p); /* here */
}

/* Mistake: the free of a part of an array */
void free_part(void)
{
    int *spread p = (int *spread)all_spread_malloc(100, sizeof(int));
    all_spread_free(p + 50); /* here */
}

/* Mistake: a local null pointer where data are to go */
void bulk_to_null(void)
{
    int *to = 0;
    if (MYPROC == 0) bulk_read(to, toglobal(1, &mine), sizeof(int)); /* here */
}

/* Mistake: more memory than there is */
void too_much(void)
{
    int *spread p = (int *spread)all_spread_malloc(1000000, 100000000); /* here */
}

void visit(int *p) { seen = table[1]; /* here */ }
/* Mistake: a function that atomic runs uses global memory */
void communicating_function(void)
{
    if (MYPROC == 0) atomic(visit, toglobal(1, &mine));
}

/* Mistake: a wait for bytes that nobody stores */
void waits_for_nothing(void)
{
    if (MYPROC == 0) store_sync(sizeof(int)); /* here */
}

/* Mistake: a lock is given back that was not taken */
void unlock_untaken(void)
{
    if (MYPROC == 0) splitc_unlock(toglobal(0, &turn)); /* here */
}

/* Mistake: a spread array whose bound is negative */
void negative_bound(void)
{
    int n = mine - 3;
    int values[n]::; /* here */
    values[0] = 1;
}

struct { char *name; void (*act)(void); } mistakes[] = {
    { "null_pointer", null_pointer }, { "process_beyond", process_beyond }, { "index_beyond", index_beyond },
    { "free_twice", free_twice }, { "free_part", free_part }, { "bulk_to_null", bulk_to_null },
    { "too_much", too_much }, { "communicating_function", communicating_function },
    { "waits_for_nothing", waits_for_nothing }, { "unlock_untaken", unlock_untaken },
    { "negative_bound", negative_bound }, { 0, 0 }
};

int splitc_main(int argc, char **argv)
{
    int i;

    for (i = 0; mistakes[i].name; i++)
        if (argc > 1 && strcmp(mistakes[i].name, argv[1]) == 0) mistakes[i].act();
    return 0;
}
