/* Mistake with spread arrays: the last subscript is the number of elements */
#include <split-c/split-c.h>

int counts[PROCS]::;

void count(int n)
{
    counts[PROCS] = n; /* here */
}
