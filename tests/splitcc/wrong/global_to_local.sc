/* Mistake with pointers: a global pointer is kept in a plain pointer */
#include <split-c/split-c.h>

int sum(int *global g, int n)
{
    int *p = g; /* here */
    int i, total = 0;

    for (i = 0; i < n; i++) total += p[i];
    return total;
}
