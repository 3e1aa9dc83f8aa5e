// The part of mixed.sc in C++.

#include "viaduct/splitc.hpp"

using viaduct::splitc::global_ptr;
using viaduct::splitc::spread_ptr;

extern "C" int read_there(std::uint64_t word) { return *global_ptr<int>::from_word(word); }

extern "C" std::uint64_t second_of(std::uint64_t word) {
  return (spread_ptr<int>::from_word(word) + 1).word();
}
