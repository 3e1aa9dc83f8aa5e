/* csn/csn.h: of the Meiko CS-2. split-c/elan.h has what there is of it here. */
#include <split-c/elan.h>
