int in_c(int x) { return x * 5; }
