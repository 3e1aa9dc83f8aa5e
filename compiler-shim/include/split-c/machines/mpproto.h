/* mpproto.h: of the SP-1 and SP-2. What there is of it here is in split-c/machines.h. */
#include <split-c/machines.h>
