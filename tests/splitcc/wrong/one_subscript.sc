/* Mistake with spread arrays: one subscript for a spread array of two dimensions */
#include <split-c/split-c.h>

double grid[8][8]::;

void clear(int i)
{
    grid[i] = 0; /* here */
}
