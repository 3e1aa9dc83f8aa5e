/* Automatic variables of other processes, at the address that the own one has; and how large the stack is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <split-c/split-c.h>

deep(levels, peer)
{
    int mine[16], theirs;

    mine[3] = 1000 * MYPROC + levels;
    if (levels > 0) return deep(levels - 1, peer);
    barrier();
    theirs = toglobal(peer, mine)[3];
    barrier();
    toglobal(peer, mine)[4] := theirs + 1;
    sync();
    barrier();
    toglobal(peer, mine)[5] :- 9;
    all_store_sync();
    return theirs == 1000 * peer && mine[4] == 1000 * MYPROC + 1 && mine[5] == 9;
}
fill(kilobytes)
{
    volatile char here[1024];

    memset((char *) here, kilobytes, sizeof(here));
    return kilobytes > 0 ? fill(kilobytes - 1) + here[0] : here[1];
}
splitc_main(argc, argv)
char **argv;
{
    int next = (MYPROC + 1) % PROCS, last = (MYPROC + PROCS - 1) % PROCS, value = 10 + MYPROC;
    double block[4], copy[4];
    int *global g = toglobal(next, &value);

    if (argc > 1) {                     /* KILOBYTES of stack, then the system's stack or not */
        fill(atoi(argv[1]));
        on_one printf("%s\n", (long) &value >> 40 ? "the system's" : "its own");
        return 0;
    }
    block[3] = MYPROC;
    barrier();
    if (*g != 10 + next) exit(1);
    bulk_read(copy, toglobal(next, block), sizeof(block));
    if (copy[3] != next) exit(2);
    barrier();
    *g = 20 + MYPROC;
    barrier();
    if (value != 20 + last) exit(3);
    if (!deep(9, next)) exit(4);
    if (MYPROC % 2) exit(0);            /* from the stack of its own */
}
