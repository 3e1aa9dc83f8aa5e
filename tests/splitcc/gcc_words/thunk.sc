/* What gcc says about the call that atomic makes, at the line of the atomic */
#include <split-c/split-c.h>
int number(int *x) __attribute__((__deprecated__));
int count(int *place, int by) { return *place += by; }
splitc_main()
{
    int *global g = 0;

    atomic(number, g);
    return atomic(count, g, "one");
}
