/// A source without checked mode in a program that has it: its templates stay apart from the
/// others'.

#undef VIADUCT_CHECKED
#include "tests/checked/correct.hpp"
#include "viaduct/splitc.hpp"

namespace viaduct::splitc_test {

long sum_unchecked(splitc::spread_ptr<long> array, long count) {
  long sum = 0;
  for (long i = 0; i < count; ++i) sum += array[i] + 0 * read(array + i);
  splitc::barrier();
  return sum;
}

long read_behind_unchecked(splitc::global_ptr<long> block) { return read(block + 10); }

const void* address_of_its_read() {
  long (*const function)(splitc::global_ptr<long>, splitc::detail::Here) = &splitc::read<long>;
  return reinterpret_cast<const void*>(function);
}

}  // namespace viaduct::splitc_test
