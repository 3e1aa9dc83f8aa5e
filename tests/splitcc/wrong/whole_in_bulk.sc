/* Mistake with spread arrays: a whole spread array is read by one call */
#include <split-c/split-c.h>

int counts[PROCS]::;

void all(int *to)
{
    bulk_read(to, counts, PROCS * sizeof(int)); /* here */
}
