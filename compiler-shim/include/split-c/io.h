/* split-c/io.h: a header of the time. Its content, if any, is in split-c/split-c.h. */
#include <split-c/split-c.h>
