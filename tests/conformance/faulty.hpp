#pragma once
/// @file
/// Segments that name memory which they must not, for the protection cases.

#include <cstdint>
#include <limits>
#include <memory>

#include "tests/conformance/link.hpp"

namespace viaduct::conformance {

/// Ways in which a segment can name memory that it must not.
enum class Fault : std::uint8_t {
  no_handle,
  unknown_handle,
  other_tag,
  behind,
  before,
  beyond_end,
  wraps,
  stale
};
inline constexpr Fault kFaults[] = {Fault::no_handle, Fault::unknown_handle, Fault::other_tag,
                                    Fault::behind,    Fault::before,         Fault::beyond_end,
                                    Fault::wraps,     Fault::stale};

[[nodiscard]] inline const char* fault_name(Fault fault) noexcept {
  switch (fault) {
    case Fault::no_handle:
      return "handle zero";
    case Fault::unknown_handle:
      return "a handle that was never given out";
    case Fault::other_tag:
      return "a region of another tag";
    case Fault::behind:
      return "an address behind the region";
    case Fault::before:
      return "an address before the region";
    case Fault::beyond_end:
      return "a length beyond the region's end";
    case Fault::wraps:
      return "a range that wraps round";
    case Fault::stale:
      return "a deregistered region";
  }
  return "?";
}

/// A buffer, and the address and handle that are wrong in one way.
class Faulty {
 public:
  Faulty(Rig& rig, std::uint32_t bytes, Fault fault, via::Rights rights,
         Memory memory = Memory::shared)
      : nic_(rig.nic()),
        tag_(fault == Fault::other_tag ? rig.nic().create_tag() : rig.tag()),
        own_tag_(fault == Fault::other_tag),
        buffer_(std::make_unique<Buffer>(rig, bytes, memory, rights, tag_)),
        view_(remote_view(*buffer_)) {
    if (fault == Fault::no_handle) view_.handle = via::MemoryHandle::none;
    if (fault == Fault::unknown_handle) view_.handle = static_cast<via::MemoryHandle>(0x7ffffff3);
    if (fault == Fault::behind) view_.address += bytes;
    if (fault == Fault::before) view_.address -= 1;
    if (fault == Fault::beyond_end) view_.address += 8;
    if (fault == Fault::wraps)
      view_.address = std::numeric_limits<std::uint64_t>::max() - bytes / 2 + 1;
    if (fault == Fault::stale) {
      buffer_->deregister();
      // Its place in a table may be taken by now, for the same memory.
      again_ = rig.nic().register_memory(tag_, buffer_->data(), bytes, rights);
    }
  }
  ~Faulty() {
    again_ = via::MemoryRegion{};
    buffer_.reset();
    if (own_tag_) nic_.destroy_tag(tag_);
  }
  Faulty(const Faulty&) = delete;
  Faulty& operator=(const Faulty&) = delete;

  [[nodiscard]] Buffer& buffer() noexcept { return *buffer_; }
  [[nodiscard]] const RemoteBuffer& view() const noexcept { return view_; }
  [[nodiscard]] std::byte* local() const noexcept {
    return reinterpret_cast<std::byte*>(view_.address);
  }

 private:
  via::Nic& nic_;
  via::ProtectionTag tag_;
  bool own_tag_;
  std::unique_ptr<Buffer> buffer_;
  via::MemoryRegion again_;
  RemoteBuffer view_;
};

// Both VIs of a reliable connection are broken; the end that found the fault reports it.
inline void expect_broken(Rig& rig, Link& link, bool reporter) {
  if (reporter) rig.expect_error(via::ErrorCause::protection, link.vi());
  rig.expect_state(link.vi(), via::ViState::error);
  rig.sync("both in the error state");
  rig.forget_errors();
}

}  // namespace viaduct::conformance
