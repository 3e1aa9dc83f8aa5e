/* cm/timers.h: of the CM-5. What there is of it here is in split-c/machines.h. */
#include <split-c/machines.h>
