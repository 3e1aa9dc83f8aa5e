// Three handlers in a library of their own. Built twice, so that two libraries have the same
// offsets inside.

#include "tests/multiprocess/am_registry_library.hpp"

namespace {

using viaduct::am::Arrival;
using viaduct::am::Token;

template <int N>
int calls = 0;
template <int N>
void on_message() {
  calls<N> += N;
}
template <int N>
void thunk(Token&, const Arrival&) {
  on_message<N>();
}

#ifdef VIADUCT_TEST_LIBRARY_B
#define LETTER "b"
#else
#define LETTER "a"
#endif
template <int N>
LibraryHandler make(const char* name) {
  return {reinterpret_cast<const void*>(on_message<N>), thunk<N>, name, 0};
}
LibraryHandler handlers[] = {make<1>(LETTER "1"), make<2>(LETTER "2"), make<3>(LETTER "3")};

}  // namespace

extern "C" [[gnu::visibility("default")]] LibraryHandler* viaduct_test_register_library(
    void (*registrar)(const viaduct::am::HandlerEntry&) noexcept, std::size_t* count) {
  *count = 0;
  for (LibraryHandler& h : handlers) {
    registrar({h.function, h.thunk, h.name, 4, &h.handler_number});
    ++*count;
  }
  return handlers;
}
