#include <split-c/split-c.h>
int table[4]::[2];
int clear(void) { table[3][1] = 0; return 0; }
int table[4]::[300];
int counts[PROCS]::;
extern int counts[PROCS + 1]::;
int rows[2][3]::;
int rows[6]::;
int same[PROCS]::[4], same[PROCS]::[2 + 2], later[4]::, later[PROCS]::;
f() { extern int table[4]::[5]; return table[0][0]; }
