/* split-c/lib.h: a header of the time. Its content (the library) is in split-c/split-c.h. */
#include <split-c/split-c.h>
