/* Mistake with pointers: global pointers to different processes are compared by order */
#include <split-c/split-c.h>

int A[100]::;

int before(void)
{
    return &A[1] < &A[2]; /* here */
}
