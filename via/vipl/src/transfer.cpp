/// Posts: descriptors are posted as they are, since their layout is the provider's.

#include <cstddef>
#include <cstdint>

#include "via/descriptor_rules.hpp"
#include "via/vipl/src/fast.hpp"

namespace viaduct::via::vipl {

static_assert(sizeof(VIP_CONTROL_SEGMENT) == sizeof(ControlSegment));
static_assert(offsetof(VIP_CONTROL_SEGMENT, NextHandle) == offsetof(ControlSegment, next_handle));
static_assert(offsetof(VIP_CONTROL_SEGMENT, SegCount) == offsetof(ControlSegment, segment_count));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Control) == offsetof(ControlSegment, control));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Reserved) == offsetof(ControlSegment, immediate_high));
static_assert(offsetof(VIP_CONTROL_SEGMENT, ImmediateData) ==
              offsetof(ControlSegment, immediate_low));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Length) == offsetof(ControlSegment, length));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Status) == offsetof(ControlSegment, status));
static_assert(sizeof(VIP_DESCRIPTOR_SEGMENT) == 16 && sizeof(VIP_ADDRESS_SEGMENT) == 16 &&
              sizeof(VIP_DATA_SEGMENT) == 16);
static_assert(offsetof(VIP_DATA_SEGMENT, Handle) == offsetof(LocalSegment, handle) &&
              offsetof(VIP_DATA_SEGMENT, Length) == offsetof(LocalSegment, length));
static_assert(offsetof(VIP_DESCRIPTOR, DS) == 32 && sizeof(VIP_DESCRIPTOR) == sizeof(Descriptor));
static_assert(VIP_STATE_IDLE == static_cast<int>(ViState::idle) &&
              VIP_STATE_CONNECTED == static_cast<int>(ViState::connected) &&
              VIP_STATE_CONNECT_PENDING == static_cast<int>(ViState::connecting) &&
              VIP_STATE_ERROR == static_cast<int>(ViState::error));
static_assert(VIP_STATUS_ERROR_MASK == descriptor_status::error_mask &&
              VIP_STATUS_OP_MASK == descriptor_status::operation_mask &&
              VIP_STATUS_IMMEDIATE == descriptor_status::immediate_present);
static_assert(VIP_SERVICE_RELIABLE_RECEPTION == static_cast<int>(Reliability::reception));
static_assert(VIP_CONTROL_IMMEDIATE == control_bits::immediate &&
              VIP_CONTROL_QFENCE == control_bits::queue_fence);

namespace {

/// Whether the descriptor lies in the region that @p handle names, under the VI's tag.
[[gnu::cold, gnu::noinline]] bool find_region_of(Vi& vi, std::uintptr_t at,
                                                 VIP_MEM_HANDLE handle) noexcept {
  const Region* const found = library().port->regions.find(handle);
  if (found == nullptr || found->tag != vi.tag) return false;
  const auto begin = reinterpret_cast<std::uintptr_t>(found->region.address());
  const std::size_t bytes = found->region.bytes();
  if (at - begin >= bytes || bytes - (at - begin) < sizeof(VIP_CONTROL_SEGMENT)) return false;
  vi.region_handle = handle;
  vi.region_begin = begin;
  // Where a descriptor may begin.
  vi.region_bytes = bytes - sizeof(VIP_CONTROL_SEGMENT) + 1;
  return true;
}

bool may_lie_there(Vi& vi, const VIP_DESCRIPTOR* descriptor, VIP_MEM_HANDLE handle) noexcept {
  if (lies_there_again(vi, descriptor, handle)) [[likely]]
    return true;
  const auto at = reinterpret_cast<std::uintptr_t>(descriptor);
  return at % VIP_DESCRIPTOR_ALIGNMENT == 0 && find_region_of(vi, at, handle);
}

/// Whether the segments behind the two that a descriptor always has lie in the region, too. More
/// than a provider takes are not looked at, and the descriptor fails in its turn.
[[gnu::cold, gnu::noinline]] bool more_segments_lie_there(const Vi& vi,
                                                          const VIP_DESCRIPTOR& d) noexcept {
  if (d.CS.SegCount > kMaxSegments + 1) return true;  // with the address segment
  const std::size_t needs = std::size_t{d.CS.SegCount} * sizeof(VIP_DESCRIPTOR_SEGMENT);
  return needs < vi.region_bytes - (reinterpret_cast<std::uintptr_t>(&d) - vi.region_begin);
}

/// Changes a descriptor that VIPL refuses for a reason unknown to the provider, so that the
/// provider refuses it in its turn.
[[gnu::cold, gnu::noinline]] void spoil(Vi& vi, Descriptor& d) {
  constexpr std::uint32_t kNoLength = 0xffffffff;
  ControlSegment& c = d.control;
  const unsigned operation = c.control & VIP_CONTROL_OP_MASK;
  const bool rdma = operation == VIP_CONTROL_OP_RDMAWRITE || operation == VIP_CONTROL_OP_RDMAREAD;
  const bool allowed =
      operation == VIP_CONTROL_OP_RDMAWRITE ? vi.remote.rdma_write != 0 : vi.remote.rdma_read != 0;
  Spoiled was{&d, c.length, MemoryHandle::none, c.control, 0};
  if (operation == VIP_CONTROL_OP_RESERVED || (c.control & VIP_CONTROL_RESERVED) != 0) {
    was.status = VIP_STATUS_FORMAT_ERROR;
    c.control = static_cast<std::uint16_t>((c.control & ~VIP_CONTROL_OP_MASK) | 0x8000U);
  } else if (c.length > vi.max_transfer) {
    was.status = VIP_STATUS_LENGTH_ERROR;
    c.length = kNoLength;
  } else if (rdma && !allowed && c.segment_count != 0) {
    was.status = VIP_STATUS_RDMA_PROT_ERROR;
    was.remote = d.segment[0].remote.handle;
    d.segment[0].remote.handle = MemoryHandle::none;
  } else {
    return;
  }
  vi.spoiled.push_back(was);
  vi.refresh();
}

/// Completes a descriptor as flushed, behind all descriptors that the provider has.
[[gnu::cold, gnu::noinline]] void flush_late(Vi& vi, WorkQueue& queue, Descriptor& d,
                                             bool receive) {
  const CompletedOperation operation =
      receive ? CompletedOperation::receive : rules::completed_as(rules::operation_of(d));
  d.control.status = rules::status_of(operation) | descriptor_status::flushed;
  queue.late.push(&d);
  vi.refresh();
  if (queue.cq != nullptr) queue.cq->early.push({&vi, receive});
}

VIP_RETURN post_send(Vi& vi, Descriptor& d) {
  if (vi.phase != Phase::connected) [[unlikely]]
    return VIP_INVALID_STATE;
  if (vi.send.queued() >= vi.depth) [[unlikely]]
    return VIP_ERROR_RESOURCE;
  if ((d.control.control & ~(VIP_CONTROL_IMMEDIATE | VIP_CONTROL_QFENCE)) != 0 ||
      d.control.length > vi.max_transfer) [[unlikely]]
    spoil(vi, d);
  switch (vi.vi->post_send(d)) {
    [[likely]] case Status::ok : ++vi.send.held;
    return VIP_SUCCESS;
    case Status::bad_state:
      if (!vi.spoiled.empty()) mend(vi, d);
      if (!is_over(vi)) return VIP_INVALID_STATE;
      flush_late(vi, vi.send, d, false);
      return VIP_SUCCESS;
    default:
      if (!vi.spoiled.empty()) mend(vi, d);
      return VIP_ERROR_RESOURCE;
  }
}

VIP_RETURN post_receive(Vi& vi, Descriptor& d) {
  if (vi.receive.queued() >= vi.depth) [[unlikely]]
    return VIP_ERROR_RESOURCE;
  set_length(d);
  // Programs set these bits as if they meant something in a receive.
  d.control.control &= static_cast<std::uint16_t>(~(VIP_CONTROL_IMMEDIATE | VIP_CONTROL_QFENCE));
  if (vi.phase == Phase::connected && is_over(vi)) [[unlikely]] {
    flush_late(vi, vi.receive, d, true);
    return VIP_SUCCESS;
  }
  if (vi.vi->post_receive(d) != Status::ok) return VIP_ERROR_RESOURCE;
  ++vi.receive.held;
  return VIP_SUCCESS;
}

template <class Post>
[[gnu::noinline]] VIP_RETURN post(VIP_VI_HANDLE handle, VIP_DESCRIPTOR* descriptor,
                                  VIP_MEM_HANDLE memory, Post one) noexcept {
  const Guard guard;
  Vi* const vi = find<Vi>(handle);
  if (vi == nullptr || descriptor == nullptr || !may_lie_there(*vi, descriptor, memory))
      [[unlikely]]
    return VIP_INVALID_PARAMETER;
  if (descriptor->CS.SegCount > 2 && !more_segments_lie_there(*vi, *descriptor)) [[unlikely]]
    return VIP_INVALID_PARAMETER;
  try {
    return one(*vi, provider_s(*descriptor));
  } catch (const std::exception&) {
    return VIP_ERROR_RESOURCE;
  }
}

/// Hands waiting errors over to the program.
[[gnu::cold, gnu::noinline]] void tell_program() noexcept { const Guard guard; }

// The short ways are in two parts, the checks and the provider's, which is a function of its own:
// so few words are live in each that hardly a register is saved. A store of a saved register waits,
// as each store does, until those before it have left the processor, and so holds up a stream of
// messages. A second part releases what the first one holds. Each part begins with a cache line: at
// other places the same instructions took up to a tenth longer.

/// Does the rest of a send whose checks the short way has made. Tells the program when it finds
/// that the connection has failed. Releases the lock.
template <Holds What>
[[gnu::noinline]] VIP_RETURN finish(Vi& vi, Descriptor& d, shm::Vi::Short what) noexcept {
  VIP_RETURN result = VIP_SUCCESS;
  try {
    if (what == shm::Vi::Short::not_taken)
      result = post_send(vi, d);
    else
      (void)vi.ready->finish_short(what);
  } catch (const std::exception&) {
    result = VIP_ERROR_RESOURCE;
  }
  const bool has_reports = library().has_reports;
  release<What>();
  if (has_reports) [[unlikely]]
    tell_program();
  return result;
}

struct Sends {
  static constexpr WorkQueue Vi::*kQueue = &Vi::send;
  static constexpr auto kLongWay = post_send;

  template <Holds What>
  [[gnu::noinline, gnu::aligned(kCacheLineBytes)]] static VIP_RETURN checked(
      Vi& vi, Descriptor& d) noexcept {
    using Short = shm::Vi::Short;
    if (d.control.control != 0 || d.control.segment_count != 1) __builtin_unreachable();
    const Short done = vi.ready->try_post_send(d);
    if (done != Short::taken) [[unlikely]]
      return finish<What>(vi, d, done);
    release<What>();
    return VIP_SUCCESS;
  }
};

struct Receives {
  static constexpr WorkQueue Vi::*kQueue = &Vi::receive;
  static constexpr auto kLongWay = post_receive;

  template <Holds What>
  [[gnu::noinline, gnu::aligned(kCacheLineBytes)]] static VIP_RETURN checked(
      Vi& vi, Descriptor& d) noexcept {
    if (d.control.segment_count != 1) __builtin_unreachable();  // may_post_shortly()
    // The length of a receive is that of its segments; the program need not say it.
    d.control.length = d.segment[0].local.length;
    const bool taken = vi.ready->state() == ViState::connected && vi.ready->try_post_receive(d);
    release<What>();
    if (taken) [[likely]]
      return VIP_SUCCESS;
    return post(vi.handle, program_s(&d), vi.region_handle, post_receive);
  }
};

template <class Posts, Holds What>
VIP_RETURN post_to_another(VIP_VI_HANDLE handle, VIP_DESCRIPTOR* descriptor,
                           VIP_MEM_HANDLE memory) noexcept;

template <class Posts, Holds What>
[[gnu::always_inline]] inline VIP_RETURN post_shortly(VIP_VI_HANDLE handle,
                                                      VIP_DESCRIPTOR* descriptor,
                                                      VIP_MEM_HANDLE memory) noexcept {
  if (!is_named_last(handle)) [[unlikely]]
    return post_to_another<Posts, What>(handle, descriptor, memory);
  Vi& vi = *named_last.vi;
  if (may_post_shortly(vi, descriptor, memory) && (vi.*Posts::kQueue).done.empty()) [[likely]]
    return Posts::template checked<What>(vi, provider_s(*descriptor));
  release<What>();
  return post(handle, descriptor, memory, Posts::kLongWay);
}
template <class Posts, Holds What>
[[gnu::noinline]] VIP_RETURN post_to_another(VIP_VI_HANDLE handle, VIP_DESCRIPTOR* descriptor,
                                             VIP_MEM_HANDLE memory) noexcept {
  if (name(handle)) return post_shortly<Posts, What>(handle, descriptor, memory);
  release<What>();
  return post(handle, descriptor, memory, Posts::kLongWay);
}
template <class Posts>
[[gnu::noinline]] VIP_RETURN post_among_threads(VIP_VI_HANDLE handle, VIP_DESCRIPTOR* descriptor,
                                                VIP_MEM_HANDLE memory) noexcept {
  return library().lock.enter_alone() ? post_shortly<Posts, Holds::lock>(handle, descriptor, memory)
                                      : post(handle, descriptor, memory, Posts::kLongWay);
}
template <class Posts>
[[gnu::always_inline]] inline VIP_RETURN post(VIP_VI_HANDLE handle, VIP_DESCRIPTOR* descriptor,
                                              VIP_MEM_HANDLE memory) noexcept {
  return is_single_threaded() ? post_shortly<Posts, Holds::nothing>(handle, descriptor, memory)
                              : post_among_threads<Posts>(handle, descriptor, memory);
}

}  // namespace

[[gnu::cold, gnu::noinline]] void mend(Vi& vi, Descriptor& d) noexcept {
  for (std::size_t i = 0; i < vi.spoiled.size(); ++i) {
    const Spoiled& was = vi.spoiled[i];
    if (was.descriptor != &d) continue;
    if ((d.control.status & descriptor_status::error_mask & ~descriptor_status::flushed) != 0)
      d.control.status = (d.control.status & ~descriptor_status::error_mask) | was.status;
    d.control.control = was.control;
    d.control.length = was.length;
    if (was.status == VIP_STATUS_RDMA_PROT_ERROR) d.segment[0].remote.handle = was.remote;
    vi.spoiled.erase(vi.spoiled.begin() + static_cast<std::ptrdiff_t>(i));
    vi.refresh();
    return;
  }
}

extern "C" {

[[gnu::aligned(kCacheLineBytes)]] VIP_RETURN VipPostSend(VIP_VI_HANDLE ViHandle,
                                                         VIP_DESCRIPTOR* DescriptorPtr,
                                                         VIP_MEM_HANDLE MemoryHandle) {
  return post<Sends>(ViHandle, DescriptorPtr, MemoryHandle);
}

[[gnu::aligned(kCacheLineBytes)]] VIP_RETURN VipPostRecv(VIP_VI_HANDLE ViHandle,
                                                         VIP_DESCRIPTOR* DescriptorPtr,
                                                         VIP_MEM_HANDLE MemoryHandle) {
  return post<Receives>(ViHandle, DescriptorPtr, MemoryHandle);
}

}  // extern "C"

}  // namespace viaduct::via::vipl
