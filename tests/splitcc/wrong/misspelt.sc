/* Mistake with the library: a function of the library is misspelt */
/* Answer: link */
#include <split-c/split-c.h>

splitc_main()
{
    all_store_synch(); /* here */
}
