/* Mistake with pointers: the arguments of toglobal are exchanged */
#include <split-c/split-c.h>

int from(int process, int *p)
{
    return *toglobal(p, process); /* here */
}
