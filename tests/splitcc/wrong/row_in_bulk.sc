/* Mistake with spread arrays: a row of a spread array of two dimensions is read at once */
#include <split-c/split-c.h>

double grid[8][8]::;

void row(int i, double *to)
{
    bulk_read(to, grid[i], 8 * sizeof(double)); /* here */
}
