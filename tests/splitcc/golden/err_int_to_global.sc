void f(int *global g, int i) { g = i; }
