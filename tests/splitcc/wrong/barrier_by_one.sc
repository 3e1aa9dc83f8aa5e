/* Mistake at run time: a barrier that one process does not reach */
/* Answer: run 2 */
#include <split-c/split-c.h>

splitc_main()
{
    if (MYPROC == 0) barrier(); /* here */
}
