void splitc_main() { }
