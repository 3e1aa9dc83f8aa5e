#pragma once
/// @file
/// Registered memory between guard bytes, and the patterns that messages are made of.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tests/conformance/rig.hpp"

namespace viaduct::conformance {

enum class Memory : std::uint8_t {
  shared,   ///< from Nic::allocate()
  private_  ///< from the heap, at an odd address
};
inline constexpr Memory kMemories[] = {Memory::shared, Memory::private_};
[[nodiscard]] const char* name_of(Memory memory) noexcept;

/// Byte @p at of the message @p seed.
[[nodiscard]] std::byte pattern_at(std::uint64_t seed, std::size_t at) noexcept;
void fill_pattern(std::byte* to, std::size_t bytes, std::uint64_t seed,
                  std::size_t first = 0) noexcept;
/// Bytes that are as they should be before the first that is not; @p bytes when all are.
[[nodiscard]] std::size_t matching(const std::byte* from, std::size_t bytes, std::uint64_t seed,
                                   std::size_t first = 0) noexcept;

/// At least one byte: an empty range cannot be registered.
class Buffer {
 public:
  Buffer(Rig& rig, std::size_t bytes, Memory memory = Memory::shared,
         via::Rights rights = via::Rights::none);
  Buffer(Rig& rig, std::size_t bytes, Memory memory, via::Rights rights, via::ProtectionTag tag);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint32_t length() const noexcept { return static_cast<std::uint32_t>(bytes_); }
  [[nodiscard]] via::MemoryHandle handle() const noexcept { return region_.handle(); }
  [[nodiscard]] std::uint64_t address() const noexcept {
    return reinterpret_cast<std::uintptr_t>(data_);
  }
  [[nodiscard]] via::LocalSegment segment(std::size_t at, std::size_t bytes) const noexcept {
    return {data_ + at, handle(), static_cast<std::uint32_t>(bytes)};
  }
  /// Ends the registration before the memory does.
  void deregister() { region_ = via::MemoryRegion{}; }

  void fill(std::uint64_t seed) noexcept { fill_pattern(data_, bytes_, seed); }
  void clear() noexcept;
  /// Checks that bytes [at, at + bytes) are the beginning of the message @p seed.
  void expect(std::uint64_t seed, std::size_t at, std::size_t bytes,
              Where where = Where::here()) const;
  /// Checks that bytes [at, at + bytes) are as clear() left them.
  void expect_clear(std::size_t at, std::size_t bytes, Where where = Where::here()) const;
  /// Checks the bytes around the buffer.
  void expect_guards(Where where = Where::here()) const;

 private:
  static constexpr std::size_t kGuardBytes = 128;
  via::Nic& nic_;
  std::size_t bytes_;
  std::byte* shared_ = nullptr;
  std::unique_ptr<std::byte[]> private_;
  std::byte* data_ = nullptr;
  via::MemoryRegion region_;
};

/// What a peer must know to reach a buffer.
struct RemoteBuffer {
  std::uint64_t address = 0;
  via::MemoryHandle handle = via::MemoryHandle::none;
};
[[nodiscard]] inline RemoteBuffer remote_view(const Buffer& buffer) noexcept {
  return {buffer.address(), buffer.handle()};
}

}  // namespace viaduct::conformance
