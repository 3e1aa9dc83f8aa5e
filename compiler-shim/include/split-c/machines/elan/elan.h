/* elan/elan.h: of the Meiko CS-2. What there is of it here is in split-c/machines.h. */
#include <split-c/machines.h>
