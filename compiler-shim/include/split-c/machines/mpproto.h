/* mpproto.h: of the SP-1 and SP-2. split-c/mpl.h has the parts that exist here. */
#include <split-c/mpl.h>
