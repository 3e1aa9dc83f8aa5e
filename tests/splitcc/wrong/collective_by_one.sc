/* Mistake at run time: one process alone makes a collective allocation */
/* Answer: run 2 */
#include <split-c/split-c.h>

int *spread table;

splitc_main()
{
    if (MYPROC == 0) table = all_spread_malloc(100, sizeof(int)); /* here */
}
