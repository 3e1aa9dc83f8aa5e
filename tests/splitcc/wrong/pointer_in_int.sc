/* Mistake with pointers: a global pointer is kept in an int */
#include <split-c/split-c.h>

int kept;

void keep(int *global g)
{
    kept = (int) g; /* here */
}
