#include "tests/conformance/buffer.hpp"

#include <algorithm>
#include <cstring>

namespace viaduct::conformance {
namespace {

constexpr std::byte kGuard{0xA5};
constexpr std::byte kClear{0xEE};

[[nodiscard]] std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
[[nodiscard]] std::uint64_t pattern_word(std::uint64_t seed, std::size_t word) noexcept {
  return mixed((seed + 1) * 0x9e3779b97f4a7c15 + word);
}
[[nodiscard]] std::size_t equal_to(const std::byte* from, std::size_t bytes,
                                   std::byte value) noexcept {
  // Most bytes are: memcmp finds that sooner than a loop, above all under a sanitizer.
  if (bytes == 0 || (*from == value && std::memcmp(from, from + 1, bytes - 1) == 0)) return bytes;
  return static_cast<std::size_t>(
      std::find_if(from, from + bytes, [&](std::byte b) { return b != value; }) - from);
}

}  // namespace

const char* name_of(Memory memory) noexcept {
  return memory == Memory::shared ? "shared" : "private";
}

std::byte pattern_at(std::uint64_t seed, std::size_t at) noexcept {
  return static_cast<std::byte>((pattern_word(seed, at / 8) >> (8 * (at % 8))) & 0xff);
}

void fill_pattern(std::byte* to, std::size_t bytes, std::uint64_t seed,
                  std::size_t first) noexcept {
  std::size_t i = 0;
  for (; i < bytes && (first + i) % 8 != 0; ++i) to[i] = pattern_at(seed, first + i);
  for (; i + 8 <= bytes; i += 8) {
    const std::uint64_t word = pattern_word(seed, (first + i) / 8);
    std::memcpy(to + i, &word, 8);
  }
  for (; i < bytes; ++i) to[i] = pattern_at(seed, first + i);
}

std::size_t matching(const std::byte* from, std::size_t bytes, std::uint64_t seed,
                     std::size_t first) noexcept {
  std::size_t i = 0;
  while (i < bytes) {
    if ((first + i) % 8 == 0 && i + 8 <= bytes) {
      const std::uint64_t word = pattern_word(seed, (first + i) / 8);
      if (std::memcmp(from + i, &word, 8) == 0) {
        i += 8;
        continue;
      }
    }
    if (from[i] != pattern_at(seed, first + i)) return i;
    ++i;
  }
  return bytes;
}

Buffer::Buffer(Rig& rig, std::size_t bytes, Memory memory, via::Rights rights)
    : Buffer(rig, bytes, memory, rights, rig.tag()) {}

Buffer::Buffer(Rig& rig, std::size_t bytes, Memory memory, via::Rights rights,
               via::ProtectionTag tag)
    : nic_(rig.nic()), bytes_(std::max<std::size_t>(bytes, 1)) {
  const std::size_t whole = bytes_ + 2 * kGuardBytes;
  if (memory == Memory::shared) {
    shared_ = nic_.allocate(whole);
    data_ = shared_ + kGuardBytes;
  } else {
    private_ = std::make_unique<std::byte[]>(whole + 1);
    data_ = private_.get() + kGuardBytes;
    if (reinterpret_cast<std::uintptr_t>(data_) % 2 == 0) ++data_;
  }
  std::memset(data_ - kGuardBytes, std::to_integer<int>(kGuard), kGuardBytes);
  std::memset(data_ + bytes_, std::to_integer<int>(kGuard), kGuardBytes);
  clear();
  region_ = nic_.register_memory(tag, data_, bytes_, rights);
}

Buffer::~Buffer() {
  region_ = via::MemoryRegion{};
  if (shared_ != nullptr) nic_.release(shared_);
}

void Buffer::clear() noexcept { std::memset(data_, std::to_integer<int>(kClear), bytes_); }

void Buffer::expect(std::uint64_t seed, std::size_t at, std::size_t bytes, Where where) const {
  const std::size_t good = matching(data_ + at, bytes, seed);
  if (good == bytes) {
    check(true, {}, where);
    return;
  }
  check(false,
        fmt::format("byte {} of {} is {:#04x}, wanted {:#04x}", good, bytes,
                    std::to_integer<unsigned>(data_[at + good]),
                    std::to_integer<unsigned>(pattern_at(seed, good))),
        where);
}

void Buffer::expect_clear(std::size_t at, std::size_t bytes, Where where) const {
  const std::size_t good = equal_to(data_ + at, bytes, kClear);
  check(good == bytes, fmt::format("byte {} was written, and must not be", at + good), where);
}

void Buffer::expect_guards(Where where) const {
  const std::size_t before = equal_to(data_ - kGuardBytes, kGuardBytes, kGuard);
  const std::size_t after = equal_to(data_ + bytes_, kGuardBytes, kGuard);
  check(before == kGuardBytes,
        fmt::format("{} bytes before the buffer were written", kGuardBytes - before), where);
  check(after == kGuardBytes, fmt::format("byte {} after the buffer was written", after), where);
}

}  // namespace viaduct::conformance
