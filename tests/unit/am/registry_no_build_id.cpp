extern "C" int viaduct_test_symbol() { return 1; }
