/* Mistake with atomic: atomic with a plain pointer */
#include <split-c/split-c.h>

int total;

int add(int *to, int by)
{
    return *to += by;
}

int count(int n)
{
    return atomic(add, &total, n); /* here */
}
