/* Functions that every file has a copy of: declared first, as headers of the time do. */
#include <stdlib.h>
#include <split-c/split-c.h>
int twice(int), shared;
int deep(int *global, int);
extern int in_c(int);
extern inline int twice(int x) { return x * 2; }
extern inline deep(g, n)
int *global g;
{
    return n > 0 ? deep(g, n - 1) + 1 : *g;
}
__inline__ extern int in_c(int x) { return x * 5; }
