/* mpsc/mpsc.h: of the Meiko CS-2, which had NX by this name. split-c/nx.h has what there is of it here. */
#include <split-c/nx.h>
