int *global g;
int *g;
int f(int *global p);
int f(int *p) { return *p; }
void h(int a, int a) { int b; double b; }
int h(int c) { return 1; }
