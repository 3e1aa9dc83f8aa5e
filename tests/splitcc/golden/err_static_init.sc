int x;
int *global g = &x;
struct { int n; int *global p; } s = { 1, &x };
