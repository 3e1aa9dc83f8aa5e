/* nx.h: of the Paragon. split-c/nx.h has what there is of it here. */
#include <split-c/nx.h>
