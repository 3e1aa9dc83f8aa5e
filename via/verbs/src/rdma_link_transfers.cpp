/// Transfers of a link: the peer's memory is written and read without its part.
///
/// The last request of each is signalled, and completions come in the order of the posts: so the
/// transfers under way are a row, of which the oldest end first. A put has taken effect when a read
/// that was posted behind it has been answered (docs/verbs.md, One-sided transfers).

#include <sched.h>

#include <algorithm>
#include <utility>

#include "via/copy.hpp"
#include "via/verbs/src/rdma_link.hpp"
#include "via/verbs/src/rdma_transport.hpp"

namespace viaduct::via::verbs {

static_assert(via::Link::kMostTransferBytes <= StagingPool::kMostBytes);

/// Whether one more transfer of @p bytes keeps within the bounds: of transfers, of bytes under way
/// (a device made of software loses packets of more), and of places of the send queue, of which
/// messages keep half.
bool RdmaLink::may_begin(std::size_t bytes) noexcept {
  constexpr std::size_t kMostUnderWay = 2 * kMostTransferBytes;
  const auto room = [&] {
    const bool first = begun_ == done_;
    return begun_ - done_ < kMostTransfers &&
           (first || (bytes_under_way_ + bytes <= kMostUnderWay &&
                      requests_under_way_ < (depth_ - kSpare) / 2)) &&
           pair_->has_room(1 + kSpare);
  };
  if (room()) [[likely]]
    return true;
  transport_.reap_sends();
  return !closed_ && room();
}

via::Link::Transfer RdmaLink::put(const std::byte* from, std::size_t bytes, std::uint64_t to,
                                  std::uint32_t key, Source source) noexcept {
  if (closed_ || !may_begin(bytes)) [[unlikely]]
    return 0;
  auto* const own = const_cast<std::byte*>(from);
  BulkMemory::Place place;
  if (source == Source::stays && bytes > inline_bytes_)
    place = transport_.memory_->find(own, bytes, true);
  return transfer(own, bytes, to, key, true, std::move(place));
}

via::Link::Transfer RdmaLink::get(std::byte* to, std::size_t bytes, std::uint64_t from,
                                  std::uint32_t key) noexcept {
  if (closed_ || !may_begin(bytes)) [[unlikely]]
    return 0;
  return transfer(to, bytes, from, key, false, transport_.memory_->find(to, bytes, false));
}

/// A buffer for @p bytes bytes; null: there is none, or the link has failed. Transfers of other
/// links may have ended that nobody asks for: their buffers are free then.
std::byte* RdmaLink::stage_for(std::size_t bytes) noexcept {
  if (std::byte* const stage = transport_.staging_->take(bytes)) return stage;
  transport_.reap_sends();
  return !closed_ ? transport_.staging_->take(bytes) : nullptr;
}

/// Begins a transfer: directly from or to @p own where @p place is in a region, else inline (a
/// small put) or through a buffer. 0: all buffers are in use, or the link has failed.
/// Precondition: may_begin(bytes).
via::Link::Transfer RdmaLink::transfer(std::byte* own, std::size_t bytes, std::uint64_t there,
                                       std::uint32_t key, bool out,
                                       BulkMemory::Place&& place) noexcept {
  Record record;
  record.bytes = static_cast<std::uint32_t>(bytes);
  record.reads = !out;
  ibv_sge segment{reinterpret_cast<std::uint64_t>(own), record.bytes, place.key};
  if (place.found) {
    record.pin = std::move(place.pin);
    transport_.counters_[kDirect] += bytes;
  } else if (out && bytes <= inline_bytes_) {
    return begin(std::move(record), segment, IBV_SEND_INLINE, there, key);
  } else {
    record.stage = stage_for(bytes);
    if (record.stage == nullptr) return 0;
    if (out)
      copy_bytes(record.stage, own, bytes);
    else
      record.own = own;
    segment.addr = reinterpret_cast<std::uint64_t>(record.stage);
    segment.lkey = transport_.staging_->key();
    transport_.counters_[kCopied] += bytes;
  }
  return begin(std::move(record), segment, 0, there, key);
}

/// Posts a transfer. If it cannot be posted as a whole, the queue pair ends what it has of it.
via::Link::Transfer RdmaLink::begin(Record&& record, const ibv_sge& own, unsigned flags,
                                    std::uint64_t there, std::uint32_t key) noexcept {
  const std::uint64_t before = pair_->posted();
  const bool out = !record.reads;
  const bool whole = post_transfer(own, flags, there, key, out);
  record.last_post = pair_->posted() - 1;
  record.requests = static_cast<std::uint32_t>(pair_->posted() - before);
  bytes_under_way_ += record.bytes;
  requests_under_way_ += record.requests;
  const Transfer number = ++begun_;
  if (out) {
    put_there_ = there;
    put_key_ = key;
    put_bytes_ = record.bytes;
  } else {
    last_read_ = number;
  }
  record_of(number) = std::move(record);
  if (whole) return number;
  pair_->fail();
  return 0;
}

/// Posts a transfer in requests that are as long as the device should have them. Waits for room;
/// the last request is signalled. False: the link has failed.
bool RdmaLink::post_transfer(const ibv_sge& own, unsigned flags, std::uint64_t there,
                             std::uint32_t key, bool out) noexcept {
  const std::size_t most = transport_.device_.most_request_bytes();
  for (std::uint32_t at = 0; at != own.length;) {
    if (!pair_->has_room(1) && !reap_until([&] { return pair_->has_room(1); })) return false;
    const auto bytes = static_cast<std::uint32_t>(std::min<std::size_t>(own.length - at, most));
    ibv_sge segment{own.addr + at, bytes, own.lkey};
    ibv_send_wr request;
    request.next = nullptr;
    request.sg_list = &segment;
    request.num_sge = 1;
    request.opcode = out ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
    request.send_flags = flags;
    request.wr.rdma.remote_addr = there + at;
    request.wr.rdma.rkey = key;
    at += bytes;
    if (at == own.length) until_signal_ = 1;
    send(request, request, 1);
  }
  return !failed_;
}

/// Ends the oldest transfers, of which all requests have completed, @p well or with an error.
void RdmaLink::finish_transfers(bool well) noexcept {
  const std::uint64_t completed = pair_->posted() - pair_->outstanding();
  while (done_ != begun_) {
    Record& record = record_of(done_ + 1);
    if (record.last_post >= completed) return;
    if (well && record.own != nullptr) copy_bytes(record.own, record.stage, record.bytes);
    bytes_under_way_ -= record.bytes;
    requests_under_way_ -= record.requests;
    if (well && record.reads) settled_ = done_ + 1;
    end_transfer();
  }
}

/// Ends the oldest transfer: the device does nothing more for it.
void RdmaLink::end_transfer() noexcept {
  Record& record = record_of(++done_);
  transport_.staging_->give(record.stage);
  record = {};
}

bool RdmaLink::is_sent(Transfer transfer) noexcept {
  if (done_ < transfer && !failed_) transport_.reap_sends();
  return done_ >= transfer || failed_;
}

bool RdmaLink::is_done(Transfer transfer) noexcept {
  if (settled_ >= transfer || failed_) return true;
  transport_.reap_sends();
  if (settled_ >= transfer) return true;
  if (last_read_ < transfer) finish_puts();
  return failed_;
}

/// Reads some of the bytes that were put last, behind all puts. When there is no room now, the next
/// call of is_done() tries again.
void RdmaLink::finish_puts() noexcept {
  constexpr std::uint32_t kEnough = 8;
  if (closed_ || !may_begin(kEnough)) return;
  Record record;
  record.bytes = std::min(put_bytes_, kEnough);
  record.reads = true;
  record.stage = stage_for(kEnough);
  if (record.stage == nullptr) return;
  const ibv_sge anywhere{reinterpret_cast<std::uint64_t>(record.stage), record.bytes,
                         transport_.staging_->key()};
  (void)begin(std::move(record), anywhere, 0, put_there_, put_key_);
}

// Transfers that wait.

template <typename Done>
bool RdmaLink::reap_until(Done done) noexcept {
  constexpr std::uint32_t kLooks = 100;  // before others get the core
  std::uint32_t looks = 0;
  while (!failed_ && !done()) {
    transport_.reap_sends();
    if (++looks <= kLooks) continue;
    sched_yield();
    if (looks % kLooks != 0) continue;
    // A device that has failed completes nothing, and tells so by an event.
    if (transport_.events_.any()) transport_.handle_device_events();
    // A device may be told to repeat for ever.
    if (!transport_.job_.is_lost(peer_)) continue;
    transport_.record_failure(*this, IBV_WC_RETRY_EXC_ERR);
    pair_->fail();
  }
  return !failed_;
}

bool RdmaLink::copy(std::byte* own, std::size_t bytes, std::uint64_t there, std::uint32_t key,
                    bool out) noexcept {
  const BulkMemory::Place place = transport_.memory_->find(own, bytes, out);
  transport_.record_cache();
  Transfer last = 0;
  for (std::size_t at = 0; at != bytes;) {
    const std::size_t piece = std::min(bytes - at, kMostTransferBytes);
    const auto begun = [&] {
      if (may_begin(piece))
        last = transfer(own + at, piece, there + at, key, out, {place.key, place.found, {}});
      return last != 0;
    };
    last = 0;
    if (!reap_until(begun)) return false;
    at += piece;
  }
  return reap_until([&] { return done_ >= last; });
}

bool RdmaLink::write(const std::byte* from, std::size_t bytes, std::uint64_t to,
                     std::uint32_t key) noexcept {
  return copy(const_cast<std::byte*>(from), bytes, to, key, true);
}

bool RdmaLink::read(std::byte* to, std::size_t bytes, std::uint64_t from,
                    std::uint32_t key) noexcept {
  return copy(to, bytes, from, key, false);
}

}  // namespace viaduct::via::verbs
