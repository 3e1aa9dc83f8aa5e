/* cm/cmmd-io.h: of the CM-5. split-c/cmmd.h has the parts that exist here. */
#include <split-c/cmmd.h>
