/* `extern inline` after a prototype, after calls, and with a real definition in another file. */
#include "inline.h"
int other(), (*table[])(int) = {twice, in_c};
early() { int in_block(int); return in_block(1) + called_first(2); }
extern inline int in_block(int x) { return x + 100; }
extern inline called_first(x) { return x > 10 ? x : called_first(x * 3); }
void splitc_main(argc, argv, environment)
char **argv, **environment;
{
    shared = 7;
    if (early() != 119 || table[0](4) != 8 || table[1](4) != 20) exit(1);
    if (other() != 6 + 9 + 15) exit(2);
    if (argc != 2 || argv[2] != 0 || !environment[0]) exit(3);
    barrier();
    if (deep(toglobal((MYPROC + 1) % PROCS, &shared), 3) != 10) exit(4);
}
