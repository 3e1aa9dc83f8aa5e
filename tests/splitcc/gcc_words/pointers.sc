#include <split-c/split-c.h>
void h(int, int *spread);
int *global u;
void (*fp)(int *global) = h;
int splitc_main() { return __builtin_abs(u); }
