#include <split-c/split-c.h>

int choose(int n)
{
    if (n == 1)
        goto inside;
    {
        int part[PROCS]::;
    inside:
        part[MYPROC] = n;
    }
    switch (n) {
        int other[4]::;
    case 0:
        other[MYPROC] = n;
    }
    return 0;
}
