/// main() of a Split-C program.

#include "splitc/main/heap.hpp"
#include "viaduct/splitc.hpp"

int main(int argc, char** argv) {
  viaduct::splitc::detail::set_heap_hook(viaduct::splitc::detail::heap_of_program());
  return viaduct::splitc::run(&splitc_main, argc, argv);
}
