/* split-c/cm5/host.h: of the CM-5. There is no host computer here. */
#include <split-c/cmmd.h>
