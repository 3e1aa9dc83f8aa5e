/* Mistake with split-phase access: the target of a get is used before sync() */
#include <split-c/split-c.h>

double pair(double *global g)
{
    double a, b;

    a := g[0];
    b := g[1];
    return a + b; /* here */
}
