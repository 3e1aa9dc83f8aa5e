/// The data of medium messages go through a ring beside the slots. The data of bulk messages and of
/// gets move by RDMA into and out of the peer's segment.

#include "am/src/payload.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "am/src/pull.hpp"
#include "via/channel/nic.hpp"
#include "via/copy.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/runtime/clock.hpp"

namespace viaduct::am::detail {

namespace header = via::header;

bool put_medium(Map& map, const std::byte* data, std::size_t bytes, std::uint64_t& place) noexcept {
  MediumSend& ring = map.medium.out;
  const auto length = static_cast<std::uint32_t>(bytes);
  std::uint64_t start = 0;
  if (!ring.fits(length, start)) {
    if (!map.update_released() || !ring.fits(length, start)) return false;
  }
  const std::uint64_t at = start & (ring.size - 1);
  if (length <= kShortPayload) map.channel->fetch_room(1);  // while the payload is copied
  std::byte* const to = ring.ring + at;
  ring.hands_over = length <= via::kMostForReader && map.is_awaited();
  if (ring.hands_over) {
    via::copy_for_reader(to, data, length);
  } else {
    const std::uint32_t half = map.announce_half(to, data, length);
    if (length != half) std::memcpy(to + half, data + half, length - half);
  }
  map.channel->forward_extra(to, length);
  ring.head = start + ring.room(length);
  place = at | std::uint64_t{length} << 32;
  return true;
}

bool send_payload(Map& map, std::uint32_t credits, std::uint64_t client,
                  std::span<const std::uint64_t> args, std::uint32_t arg_bytes,
                  std::span<const std::byte> data) noexcept {
  if (args.size() >= via::kWordsPerSlot || map.channel->is_remote() ||
      map.channel->known_room() == 0) [[unlikely]]
    return false;
  std::uint64_t place = 0;
  if (!put_medium(map, data.data(), data.size(), place)) [[unlikely]]
    return false;
  via::Slot& slot = map.channel->known_slot();  // the announcement of a half leaves room
  slot.put(0, place);
  for (std::uint32_t i = 0; i < args.size(); ++i) slot.put(1 + i, args[i]);
  map.channel->publish(slot, header::make(via::MessageKind::inline_data, 8 + arg_bytes, client));
  map.take_no_credit(1 - credits);
  map.after_payload(data.size());
  return true;
}

void Map::after_payload(std::uint64_t length) noexcept {
  if (medium.out.hands_over) medium.in.hand_back(via::kMostForReader);
  medium.out.claim_next(length);
}

/// Writes the first half of a long payload to @p to and lets the receiver begin to fetch it.
/// Answers the bytes written: none where that is not worth a line, as in a stream, whose receiver
/// is busy with what came before.
std::uint32_t Map::announce_half(std::byte* to, const std::byte* data,
                                 std::uint32_t length) noexcept {
  constexpr std::uint32_t kLeast = 3072;
  constexpr std::uint64_t kSpare = 8;  // the message itself must find room
  if (length < kLeast || channel->is_remote() || channel->known_room() < kSpare ||
      4 * credits() < 3 * credit_limit)
    return 0;
  const std::uint32_t half = length / 2 & ~std::uint32_t{63};
  std::memcpy(to, data, half);
  via::Slot& slot = channel->known_slot();
  slot.put(0, static_cast<std::uint64_t>(to - medium.out.ring) | std::uint64_t{half} << 32);
  // Without a doorbell: the message rings it.
  (void)channel->publish_quietly(
      slot, header::make(via::MessageKind::inline_data, 8, wire_format::half_bit));
  take_no_credit(1);
  return half;
}

namespace {

/// What a message of @p client does with the peer's segment.
via::Rights rights_of(std::uint64_t client) noexcept {
  return wire_format::operation(client) == Operation::get ? via::Rights::rdma_read
                                                          : via::Rights::rdma_write;
}

Undeliverable reach(Map& map, std::size_t bytes, std::size_t offset, std::uint64_t client,
                    via::RemotePlace& place) noexcept {
  const via::Rights rights = rights_of(client);
  // A bulk reply was asked for. The handler of a get, too, runs as one of a reply.
  const bool is_reply =
      wire_format::kind(client) == Kind::reply && rights == via::Rights::rdma_write;
  if (map.channel->is_remote())
    take_page(*map.peer.page, reinterpret_cast<MapBlock*>(map.channel->peer_extra())->page);
  else if (!is_reply && !hears(map.peer.page->tag.load(), map.tags.presented))
    return Undeliverable::bad_tag;
  const std::uint64_t held = map.peer.page->segment_bytes.load(kAcquire);
  if (offset > held || (held == 0 && bytes != 0)) return Undeliverable::bad_offset;
  if (bytes > held - offset) return Undeliverable::bad_length;
  if (bytes == 0) return Undeliverable::none;
  if (map.channel->is_remote())
    return includes(rights, via::Rights::rdma_write) && map.peer.page->read_only.load() != 0
               ? Undeliverable::bad_offset
               : Undeliverable::none;
  place = core_of(map).context().nic().remote_place(
      map.name.rank, static_cast<via::ProtectionTag>(map.peer.page->protection_tag),
      map.peer.page->segment_address.load() + offset,
      static_cast<via::MemoryHandle>(map.peer.page->segment_handle.load()), bytes, rights);
  return place.status != 0 ? Undeliverable::bad_offset : Undeliverable::none;
}

/// Why write_place() or read_place() failed.
Undeliverable why_not_copied(const via::channel::Nic& nic) noexcept {
  switch (nic.cross_error()) {
    case EPERM:
    case EACCES:
    case ENOSYS:
      return Undeliverable::no_access;
    case EFAULT:
      return Undeliverable::bad_offset;  // given as a segment, and unmapped since
    default:
      return Undeliverable::unreachable;
  }
}

}  // namespace

Undeliverable copy_bulk(Map& map, std::byte* own, std::size_t bytes, std::size_t offset,
                        std::uint64_t client) noexcept {
  via::RemotePlace place;
  const Undeliverable why = reach(map, bytes, offset, client, place);
  if (why != Undeliverable::none || bytes == 0) return why;
  const bool out = rights_of(client) == via::Rights::rdma_write;
  if (map.channel->is_remote()) {
    via::Link* const link = map.channel->link();
    const std::uint64_t there = map.peer.page->segment_address.load() + offset;
    const std::uint32_t key = map.peer.page->segment_handle.load();
    const bool done = link != nullptr && (out ? link->write(own, bytes, there, key)
                                              : link->read(own, bytes, there, key));
    return done ? Undeliverable::none : Undeliverable::unreachable;
  }
  via::channel::Nic& nic = core_of(map).context().nic();
  const bool done = out ? nic.write_place(map.name.rank, place, own, bytes)
                        : nic.read_place(map.name.rank, place, own, bytes);
  return done ? Undeliverable::none : why_not_copied(nic);
}

namespace {

Undeliverable put_bulk(Map& map, const std::byte* from, std::size_t bytes, std::size_t offset,
                       std::uint64_t client) noexcept {
  const Undeliverable why = copy_bulk(map, const_cast<std::byte*>(from), bytes, offset, client);
  if (why == Undeliverable::none) core_of(map).dispatcher().count(kBulkBytes, bytes);
  return why;
}

}  // namespace

Undeliverable begin_bulk(Map& map, const std::byte* from, std::size_t bytes, std::size_t offset,
                         std::uint64_t& client) noexcept {
  if (bytes < kLeastPull || map.channel->is_remote())
    return put_bulk(map, from, bytes, offset, client);
  via::RemotePlace place;
  const Undeliverable why = reach(map, bytes, offset, client, place);
  if (why != Undeliverable::none) return why;
  if (!show_for_pull(map, from, bytes)) return put_bulk(map, from, bytes, offset, client);
  client |= wire_format::pull_bit;
  return Undeliverable::none;
}

void finish_bulk(Map& map, const std::byte* from, std::size_t bytes, std::size_t offset,
                 std::uint64_t client, bool sent) noexcept {
  if ((client & wire_format::pull_bit) == 0) return;
  if (!sent) return take_back_pull(map);
  if (await_pull(map, bytes)) return core_of(map).dispatcher().count(kBulkBytes, bytes);
  const std::uint64_t start = monotonic_ns();
  const Undeliverable why = put_bulk(map, from, bytes, offset, client);
  if (why != Undeliverable::none) return tell_failed(map, why);
  tell_pushed(map, bytes, monotonic_ns() - start);
}

}  // namespace viaduct::am::detail
