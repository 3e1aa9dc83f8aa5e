/* Mistake with the library: the result of all_spread_malloc is kept in a plain pointer */
#include <split-c/split-c.h>

double *table(int n)
{
    double *t = all_spread_malloc(n, sizeof(double)); /* here */

    return t;
}
