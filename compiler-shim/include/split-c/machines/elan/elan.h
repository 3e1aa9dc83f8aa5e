/* elan/elan.h: of the Meiko CS-2. Nothing of it is here but Split-C. */
#include <split-c/split-c.h>
