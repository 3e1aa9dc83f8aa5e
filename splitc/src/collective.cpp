/// Collectives that move bytes as they are: broadcasts and gathers.

#include <algorithm>
#include <cstring>
#include <vector>

#include "viaduct/splitc/detail/collective.hpp"

namespace viaduct::splitc::detail {
namespace {

/// Longer values go in several calls, so that a process keeps kSets such pieces at most, or are
/// copied from where they lie.
constexpr std::size_t kPiece = std::size_t{16} << 10;
/// Gathers of more than this in all go process by process.
constexpr std::size_t kTogether = std::size_t{64} << 10;

template <class Body>
void in_pieces(std::size_t bytes, Body&& body) {
  for (std::size_t at = 0; at < bytes; at += kPiece) body(at, std::min(kPiece, bytes - at));
}

}  // namespace

/// A binomial tree: counted from the root, process r receives the piece from process r without its
/// lowest bit, and sends it to r + 2^i for all i below that bit.
void CollectiveEngine::broadcast_piece(std::uint32_t root, std::byte* data, std::size_t bytes) {
  const std::uint32_t procs = hot.procs;
  const std::uint32_t mine = (hot.myproc + procs - root) % procs;
  const auto process = [&](std::uint32_t r) { return (r + root) % procs; };
  if (bytes > kSlotBytes) open_outbox(bytes);
  Parcel parcel{data, bytes, 0, Parcel::kNowhere};
  if (mine != 0) parcel = receive_bytes(process(mine & (mine - 1)), 0, data, bytes);
  if (parcel.owner == Parcel::kNowhere) parcel = wrap(data, bytes);
  const std::uint32_t end = mine == 0 ? std::bit_ceil(procs) : mine & (~mine + 1);
  for (std::uint32_t bit = end / 2; bit != 0; bit /= 2)
    if (mine + bit < procs) send_parcel(process(mine + bit), 0, parcel);
}

void CollectiveEngine::broadcast(const CollectiveCall& call, std::uint32_t root, void* data,
                                 std::uint64_t count) {
  if (hot.procs == 1) return alone(call.kind);
  const std::size_t total = count * call.element_bytes;
  auto* bytes = static_cast<std::byte*>(data);
  if (total <= kPiece) {
    begin(call, false, root, count);
    if (total != 0) broadcast_piece(root, bytes, total);
    return;
  }
  if (broadcast_in_place(call, root, bytes, count)) return;
  in_pieces(total, [&](std::size_t at, std::size_t length) {
    begin(call, false, root, count);
    broadcast_piece(root, bytes + at, length);
  });
}

/// Sends a piece from one process to another; the others only count the call.
void CollectiveEngine::transfer_piece(std::uint32_t from, std::uint32_t to, std::byte* data,
                                      std::size_t bytes) {
  if (bytes > kSlotBytes) open_outbox(bytes);
  if (hot.myproc == from) send_parcel(to, 0, wrap(data, bytes));
  if (hot.myproc == to) (void)receive_bytes(from, 0, data, bytes);
}

/// The rounds of a gather that has begun: after round r a process has the values of 2^(r + 1)
/// processes, beginning with its own.
void CollectiveEngine::gather_rounds(const void* value, std::size_t size, void* all) {
  const std::uint32_t procs = hot.procs, me = hot.myproc;
  auto* const result = static_cast<std::byte*>(all);
  open_outbox(size * procs + barrier_rounds_ * kCacheLineBytes);
  std::vector<std::byte> found(size * procs);
  std::memcpy(found.data(), value, size);
  std::uint32_t have = 1;
  for (std::uint32_t round = 0; round < barrier_rounds_; ++round) {
    const std::uint32_t more = std::min(have, procs - have);
    send_parcel((me + procs - have) % procs, round, wrap(found.data(), more * size));
    (void)receive_bytes((me + have) % procs, round, found.data() + have * size, more * size);
    have += more;
  }
  const std::size_t before_me = me * size;
  std::memcpy(result + before_me, found.data(), found.size() - before_me);
  std::memcpy(result, found.data() + found.size() - before_me, before_me);
}

void CollectiveEngine::gather(const CollectiveCall& call, const void* value, void* all) {
  if (hot.procs == 1) return alone(call.kind);
  const std::uint32_t procs = hot.procs, me = hot.myproc;
  const std::size_t size = call.element_bytes;
  auto* const result = static_cast<std::byte*>(all);
  if (size * procs > kTogether) {
    std::memcpy(result + me * size, value, size);
    for (std::uint32_t from = 0; from < procs; ++from)
      in_pieces(size, [&](std::size_t at, std::size_t length) {
        begin(call, false, from);
        broadcast_piece(from, result + from * size + at, length);
      });
    return;
  }
  begin(call, true);
  gather_rounds(value, size, all);
}

/// A binomial tree: counted from the root, process r collects for r to r + 2^i - 1.
void CollectiveEngine::gather_to_one(const CollectiveCall& call, std::uint32_t root,
                                     const void* value, void* all) {
  if (hot.procs == 1) return alone(call.kind);
  const std::uint32_t procs = hot.procs, me = hot.myproc;
  const std::size_t size = call.element_bytes;
  auto* const result = static_cast<std::byte*>(all);
  if (size * procs > kTogether) {
    std::vector<std::byte> mine(size);
    std::memcpy(mine.data(), value, size);
    for (std::uint32_t from = 0; from < procs; ++from)
      if (from != root)
        in_pieces(size, [&](std::size_t at, std::size_t length) {
          begin(call, false, root, from);
          std::byte* const data = me == root ? result + from * size : mine.data();
          transfer_piece(from, root, data + at, length);
        });
    return;
  }
  begin(call, false, root);
  const std::uint32_t mine = (me + procs - root) % procs;
  open_outbox(size * procs);
  std::vector<std::byte> found(size * procs);
  std::memcpy(found.data(), value, size);
  for (std::uint32_t round = 0, bit = 1; bit < procs; ++round, bit *= 2) {
    if ((mine & bit) != 0) {
      const std::uint32_t have = std::min(bit, procs - mine);
      send_parcel((me + procs - bit) % procs, round, wrap(found.data(), have * size));
      return;
    }
    if (mine + bit >= procs) continue;
    const std::uint32_t more = std::min(bit, procs - mine - bit);
    (void)receive_bytes((me + bit) % procs, round, found.data() + bit * size, more * size);
  }
  const std::size_t to_end = (procs - root) * size;
  std::memcpy(result + root * size, found.data(), to_end);
  std::memcpy(result, found.data() + to_end, root * size);
}

}  // namespace viaduct::splitc::detail
