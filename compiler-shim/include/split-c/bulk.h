/* split-c/bulk.h: a header of the time. Its content (bulk_read and the other bulk operations) is in split-c/split-c.h. */
#include <split-c/split-c.h>
