char *splitc_main(unsigned long argc, const char *const *argv) { return 0; }
