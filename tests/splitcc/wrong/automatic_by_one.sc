/* Mistake at run time: an automatic spread array in a branch that one process takes */
/* Answer: run 2 */
#include <split-c/split-c.h>

splitc_main()
{
    if (MYPROC == 0) {
        int table[10]::; /* here */

        table[0] = 1;
    }
}
