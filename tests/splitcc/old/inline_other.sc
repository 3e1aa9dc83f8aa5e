#include "inline.h"
/* The real definition of one of them, in a file that has the copy too. */
int twice(int x) { return x * 2; }
other() { return twice(3) + deep((int *global)&shared, 2) + in_c(3); }
