/* csn/csn.h: of the Meiko CS-2. split-c/elan.h has the parts that exist here. */
#include <split-c/elan.h>
