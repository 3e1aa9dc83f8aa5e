/* Mistake with pointers: global pointers to different processes are compared by order */
#include <split-c/split-c.h>

int x;

int before(void)
{
    return toglobal(1, &x) < toglobal(2, &x); /* here */
}
