/* Mistake with split-phase access: := assigns between two objects of this process */
#include <split-c/split-c.h>

void copy(int *to, int *from, int n)
{
    while (n-- > 0) *to++ := *from++; /* here */
}
