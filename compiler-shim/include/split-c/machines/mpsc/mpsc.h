/* mpsc/mpsc.h: of the Meiko CS-2, which had NX by this name. split-c/nx.h has the parts that exist here. */
#include <split-c/nx.h>
