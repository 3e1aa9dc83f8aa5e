/* Process 0 does not allocate what the others do. */
#include <split-c/split-c.h>

splitc_main()
{
    double *spread p;

    if (MYPROC != 0) p = all_spread_malloc(10, sizeof(double));
    barrier();
}
