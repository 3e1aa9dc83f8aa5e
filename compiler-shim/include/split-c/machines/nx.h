/* nx.h: of the Paragon. split-c/nx.h has the parts that exist here. */
#include <split-c/nx.h>
