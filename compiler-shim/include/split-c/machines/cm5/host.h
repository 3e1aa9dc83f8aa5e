/* cm5/host.h: of the CM-5. There is no host computer here: see split-c/machines.h. */
#include <split-c/machines.h>
