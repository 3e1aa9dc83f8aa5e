#include "tests/neg/am_messages.hpp"

viaduct::Status answer(am::Token& token, [[maybe_unused]] std::span<const int> ints,
                       [[maybe_unused]] std::span<const double> doubles) {
#ifdef VIADUCT_NEGATIVE
  return token.reply_bulk<on_bulk>(doubles, 0, 1);
#else
  return token.reply_bulk<on_bulk>(ints, 0, 1);
#endif
}
