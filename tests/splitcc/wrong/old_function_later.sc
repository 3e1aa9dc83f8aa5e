/* Mistake with pointers: a global pointer goes to a function with a local one, which is defined later */
#include <split-c/split-c.h>

int table[100]::;

int first(void)
{
    return value_of(&table[1]); /* here */
}

int value_of(p) int *p; { return *p; }
