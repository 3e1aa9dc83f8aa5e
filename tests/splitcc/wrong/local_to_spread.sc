/* Mistake with pointers: a plain array is passed where a spread array is wanted */
#include <split-c/split-c.h>

double total(int n, double A[n]::);

double f(void)
{
    double mine[10];

    return total(10, mine); /* here */
}
