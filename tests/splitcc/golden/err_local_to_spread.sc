void f(int *spread s, int *p) { s = p; }
