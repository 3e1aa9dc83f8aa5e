/// main() of a Split-C program.

#include "splitc/splitc.hpp"

int main(int argc, char** argv) { return viaduct::splitc::run(&splitc_main, argc, argv); }
