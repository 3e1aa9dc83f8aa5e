/* split-c/com.h: a header of the time. Its content (reductions, scans, broadcasts) is in split-c/split-c.h. */
#include <split-c/split-c.h>
