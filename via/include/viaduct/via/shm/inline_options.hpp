#pragma once
/// @file
/// The options of a VI that hands its messages to its client in their slots.

#include <cstddef>
#include <cstdint>

namespace viaduct::via::shm {

/// A VI whose receives are *inline only* has no receive descriptors: each message of up to
/// kMaxLines lines is handed to the client in its slot, and the slots themselves are the posted
/// receives. Active Messages use this form.
struct InlineOptions {
  bool inline_only = false;
  std::uint32_t slots = 0;          ///< power of two, 4 to 65536
  std::uint32_t release_every = 1;  ///< slots are given back to the sender in batches of this many
  /// Of the client's, behind the slots; the peer may read them like the slots.
  std::size_t extra_bytes = 0;
  /// The peer shares no memory with this rank: a transport takes the messages there
  /// (remote_channel.cpp).
  bool remote = false;
  /// Bits of the header's client word that the client uses: the others are zero in every message.
  unsigned client_bits = 48;
  /// Remote: messages and signs of one peer that have not been polled are never more than this.
  std::uint32_t notifications = 0;
};

}  // namespace viaduct::via::shm
