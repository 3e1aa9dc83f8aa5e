/* mpproto.h: of the SP-1 and SP-2. split-c/mpl.h has what there is of it here. */
#include <split-c/mpl.h>
