/* Mistake with spread arrays: sizeof of a spread array */
#include <split-c/split-c.h>

double values[100]::;

int elements(void)
{
    return sizeof(values) / sizeof(values[0]); /* here */
}
