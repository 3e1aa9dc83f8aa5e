/* Mistake with pointers: a process number is taken for a global pointer */
#include <split-c/split-c.h>

int from(int process)
{
    int *global g = process; /* here */

    return *g;
}
