#pragma once
/// @file
/// Two connected ends, and messages of one word, for the tests of channels.

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "via/channel/nic.hpp"
#include "viaduct/via/channel/channel.hpp"

namespace viaduct::via::channel {

inline constexpr std::uint32_t kAll = 1000;  // messages: more than any ring here holds
inline constexpr std::uint64_t kClient = 0xABCDEF012345;

using Words = std::vector<std::uint64_t>;

/// The numbers from @p first up to, and without, @p end.
inline Words numbers(std::uint64_t first, std::uint64_t end) {
  Words all(end - first);
  std::iota(all.begin(), all.end(), first);
  return all;
}

/// Connects two ends of this rank. @p discriminator: none that was used before.
inline void connect_ends(Nic& nic, Rank rank, Channel& a, Channel& b, std::uint64_t discriminator) {
  EXPECT_EQ(a.connect_peer_start(rank, discriminator), Status::ok);
  EXPECT_EQ(b.connect_peer_start(rank, discriminator), Status::ok);
  for (int i = 0; i < 8; ++i) nic.progress();
  EXPECT_EQ(a.state(), ViState::connected);
  EXPECT_EQ(b.state(), ViState::connected);
}

/// Sends a message of one word.  @return false: there is no room.
inline bool send(Channel& c, std::uint64_t word) {
  Slot* const slot = c.claim();
  if (slot == nullptr) return false;
  slot->put(0, word);
  c.publish(*slot, header::make(MessageKind::inline_data, 8, kClient));
  return true;
}

/// The first words of the messages that @p from, a channel or a group, hands over.
template <class From>
Words take(From& from, std::uint32_t budget = kAll) {
  Words words;
  auto note = [&words](Channel&, Slot& slot, std::uint64_t) { words.push_back(slot.get(0)); };
  (void)from.drain(budget, note);
  return words;
}

}  // namespace viaduct::via::channel
