#pragma once
/// @file
/// A registrar without a device that holds the pages themselves, as a device does: pipes, into
/// which vmsplice() has put the pages. What such a pipe says is what a device would read.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "via/registration_cache.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"

namespace viaduct::via::testing {

inline std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

class PageHolder final : public Registrar {
 public:
  struct Log {
    std::uint64_t enrolled = 0, released = 0;
    std::uint64_t bytes = 0, most_bytes = 0;
    std::uint64_t room = ~std::uint64_t{0};  // bytes; more is refused, as by a memory-lock limit
    bool keep_pages = true;
    std::set<std::uint32_t> in_use;  // keys that a test transfers with: not to be released
    bool released_in_use = false;
    /// Whether the device may not write there.
    std::function<bool(const std::byte*, std::size_t)> read_only =
        [](const std::byte*, std::size_t) { return false; };
    PageHolder* holder = nullptr;
  };

  explicit PageHolder(Log& log) : log_(log) { log.holder = this; }
  ~PageHolder() override { log_.holder = nullptr; }

  [[nodiscard]] Region enroll(std::byte* address, std::size_t bytes, Rights,
                              bool writable) override {
    if (log_.bytes + bytes > log_.room) throw Error(ENOMEM, "cannot register: locked memory");
    const bool read_only = log_.read_only(address, bytes);
    if (writable && read_only) throw Error(EFAULT, "cannot register: not all can be written");
    const std::uint32_t key = ++last_key_;
    Held held;
    held.address = address;
    held.pages = bytes / page_bytes();
    if (log_.keep_pages) held.pipe = hold(address, held.pages);
    ++log_.enrolled;
    log_.bytes += bytes;
    log_.most_bytes = std::max(log_.most_bytes, log_.bytes);
    held_.emplace(key, held);
    return {key, key, !read_only};
  }

  void release(const Region& region) noexcept override {
    const auto found = held_.find(region.key);
    if (found == held_.end() || log_.in_use.count(region.key) != 0) log_.released_in_use = true;
    if (found == held_.end()) return;
    for (const int fd : found->second.pipe)
      if (fd >= 0) ::close(fd);
    log_.bytes -= found->second.pages * page_bytes();
    ++log_.released;
    held_.erase(found);
  }

  /// Whether the region of @p key holds the pages that are at @p address now: compares their first
  /// words.
  [[nodiscard]] bool holds(std::uint32_t key, const std::byte* address, std::size_t bytes) {
    const auto found = held_.find(key);
    if (found == held_.end()) return false;
    const Held& held = found->second;
    const auto first = static_cast<std::size_t>(address - held.address) / page_bytes();
    const std::size_t count = (bytes + page_bytes() - 1) / page_bytes();
    if (address < held.address || first + count > held.pages) return false;
    std::array<int, 2> copy = pipe_of(held.pages);
    std::vector<std::uint64_t> words(held.pages);
    const std::size_t all = held.pages * sizeof words[0];
    const bool read = ::tee(held.pipe[0], copy[1], all, 0) == static_cast<ssize_t>(all) &&
                      ::read(copy[0], words.data(), all) == static_cast<ssize_t>(all);
    for (const int fd : copy) ::close(fd);
    if (!read) return false;
    for (std::size_t i = 0; i < count; ++i)
      if (std::memcmp(&words[first + i], held.address + (first + i) * page_bytes(),
                      sizeof words[0]) != 0)
        return false;
    return true;
  }

 private:
  struct Held {
    std::byte* address = nullptr;
    std::size_t pages = 0;
    std::array<int, 2> pipe{-1, -1};
  };

  static std::array<int, 2> pipe_of(std::size_t pages) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw_errno("pipe2");
    const auto bytes = static_cast<int>(std::max<std::size_t>(pages, 16) * page_bytes());
    if (::fcntl(pipe[1], F_SETPIPE_SZ, bytes) < bytes) throw_errno("F_SETPIPE_SZ");
    return pipe;
  }

  static std::array<int, 2> hold(std::byte* address, std::size_t pages) {
    const std::array<int, 2> pipe = pipe_of(pages);
    for (std::size_t i = 0; i < pages; ++i) {
      const iovec word{address + i * page_bytes(), sizeof(std::uint64_t)};
      if (::vmsplice(pipe[1], &word, 1, 0) != sizeof(std::uint64_t)) {
        const int error = errno;
        for (const int fd : pipe) ::close(fd);
        throw Error(error, "vmsplice");
      }
    }
    return pipe;
  }

  Log& log_;
  std::map<std::uint32_t, Held> held_;
  std::uint32_t last_key_ = 0;
};

/// Anonymous memory whose pages begin with words that never come again.
inline void stamp(std::byte* address, std::size_t bytes) {
  static std::atomic<std::uint64_t> next{1};
  for (std::size_t at = 0; at < bytes; at += page_bytes()) {
    const std::uint64_t word = next.fetch_add(1);
    std::memcpy(address + at, &word, sizeof word);
  }
}
inline std::byte* map_pages(std::size_t pages, void* at = nullptr) {
  void* const address =
      ::mmap(at, pages * page_bytes(), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | (at != nullptr ? MAP_FIXED : 0), -1, 0);
  if (address == MAP_FAILED) throw_errno("mmap");
  stamp(static_cast<std::byte*>(address), pages * page_bytes());
  return static_cast<std::byte*>(address);
}

}  // namespace viaduct::via::testing
