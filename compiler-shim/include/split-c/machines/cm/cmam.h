/* cm/cmam.h: of the CM-5. split-c/cmmd.h has what there is of it here. */
#include <split-c/cmmd.h>
