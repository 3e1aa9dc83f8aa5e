int restrict, u;
int *global U(int *global restrict) { return restrict; }
