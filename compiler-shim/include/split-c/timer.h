/* split-c/timer.h: a header of the time. Its content (get_seconds and get_ctr) is in split-c/split-c.h. */
#include <split-c/split-c.h>
