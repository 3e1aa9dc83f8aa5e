/* Mistake with PROCS: PROCS is a case label */
#include <split-c/split-c.h>

int is_last(int n)
{
    switch (n) {
    case PROCS: return 1; /* here */
    }
    return 0;
}
