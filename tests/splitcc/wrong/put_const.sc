/* Mistake with split-phase access: a put into a const object */
#include <split-c/split-c.h>

void set(const double *global to, double value)
{
    *to := value; /* here */
    sync();
}
