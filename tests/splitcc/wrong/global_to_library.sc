/* Mistake with pointers: a function of the C library works on another process' memory */
#include <string.h>
#include <split-c/split-c.h>

void clear(double *global g, int n)
{
    memset(g, 0, n * sizeof(double)); /* here */
}
