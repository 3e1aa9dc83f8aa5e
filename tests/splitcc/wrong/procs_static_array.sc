/* Mistake with PROCS: PROCS is the size of a static array */
#include <split-c/split-c.h>

int counts[PROCS]; /* here */
