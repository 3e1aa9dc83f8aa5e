/* nx.h: of the Paragon. What there is of it here is in split-c/machines.h. */
#include <split-c/machines.h>
