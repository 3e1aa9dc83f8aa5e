/// The entry vsc_main() for a splitc_main in plain C; splitcc generates one for a splitc_main in
/// Split-C.

#include <unistd.h>

#include "compiler-shim/runtime/c_callable.hpp"

extern "C" {

int splitc_main(int argc, char** argv, char** environment);

// A splitc_main with fewer parameters ignores the others.
[[gnu::weak]] int vsc_main(int argc, char** argv) { return splitc_main(argc, argv, ::environ); }

}  // extern "C"
