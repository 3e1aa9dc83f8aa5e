// The hot path of Split-C as a user's program gets it, and as the library has the part that is not
// inlined: a counted store of a word, the light poll, and words that are mapped.

#include "splitc/src/store.cpp"  // the counted store is a call: what it executes is in there
#include "tests/codegen/seed.hpp"
#include "viaduct/splitc/access.hpp"

namespace splitc = viaduct::splitc;

extern "C" {

void viaduct_codegen_counted_store(std::uint64_t to, std::uint64_t bits) {
  viaduct::codegen::seed();
  splitc::detail::store_bits(to, bits, sizeof bits);
}

void viaduct_codegen_store_on_counter(std::uint64_t to, std::uint64_t bits) {
  viaduct::codegen::seed();
  splitc::store(splitc::global_ptr<std::uint64_t>::from_word(to), bits, splitc::store_counter{3});
}

void viaduct_codegen_light_poll() {
  viaduct::codegen::seed();
  splitc::detail::light_poll();
}

long viaduct_codegen_read(splitc::global_ptr<long> from) {
  viaduct::codegen::seed();
  return splitc::read(from);
}

void viaduct_codegen_write(splitc::global_ptr<long> to, long value) {
  viaduct::codegen::seed();
  splitc::write(to, value);
}
}
