#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "viaduct/am/detail/wire_format.hpp"
#include "viaduct/runtime/segment.hpp"

namespace viaduct::am::detail {
namespace {

struct Segment {
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint32_t key;
  friend bool operator==(const Segment&, const Segment&) = default;
};

void show(EndpointPage& page, const Segment& segment) {
  page.segment_address.store(segment.address);
  page.segment_bytes.store(segment.bytes);
  page.segment_handle.store(segment.key);
  page.check_word.store(check_word_of(page));
}

Segment segment_of(const EndpointPage& page) {
  return {page.segment_address.load(), page.segment_bytes.load(), page.segment_handle.load()};
}

/// @p to when @p bytes of @p from have been written over it: the first ones, or the last.
void write_part(EndpointPage& to, const EndpointPage& from, std::size_t bytes, bool first) {
  const std::size_t at = first ? 0 : sizeof to - bytes;
  std::memcpy(reinterpret_cast<char*>(&to) + at, reinterpret_cast<const char*>(&from) + at, bytes);
}

TEST(RemotePage, IsOldOrNewWhileItIsWritten) {
  const Segment none{0, 0, 0};
  const Segment small{0x7f0000001000, 0x1000, 0x1234};
  const Segment next{0x7f0000002000, 0x1000, 0x1235};  // two bytes differ
  const Segment large{0x7fffdeadb000, 0x123456789, 0xfedcba98};
  for (const Segment& old : {none, small, next, large}) {
    for (const Segment& now : {none, small, next, large}) {
      EndpointPage written{};
      show(written, now);
      for (std::size_t bytes = 0; bytes <= sizeof written; ++bytes) {
        for (const bool first : {true, false}) {
          EndpointPage there{};
          show(there, old);
          EndpointPage taken{};
          take_page(taken, there);
          EXPECT_EQ(segment_of(taken), old);
          write_part(there, written, bytes, first);
          take_page(taken, there);
          const bool whole = bytes == sizeof written;
          EXPECT_TRUE(segment_of(taken) == now || (segment_of(taken) == old && !whole)) << bytes;
        }
      }
    }
  }
}

TEST(RemotePage, IsNoneBeforeTheFirst) {
  EndpointPage taken{};
  take_page(taken, EndpointPage{});
  EXPECT_EQ(segment_of(taken), (Segment{0, 0, 0}));
}

}  // namespace
}  // namespace viaduct::am::detail
