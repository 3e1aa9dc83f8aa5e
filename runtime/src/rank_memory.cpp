// The part of a hang report that is read from a rank's own memory.

#include <fmt/format.h>
#include <sys/uio.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/hang_report.hpp"

namespace viaduct {
namespace {

constexpr std::size_t kLongestName = 96;

bool read_bytes(pid_t pid, const void* from, void* to, std::size_t bytes) noexcept {
  const iovec here{to, bytes};
  const iovec there{const_cast<void*>(from), bytes};
  return from != nullptr &&
         ::process_vm_readv(pid, &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

template <class T>
bool read_value(pid_t pid, const T* from, T& to) noexcept {
  return read_bytes(pid, from, &to, sizeof to);
}

/// A string literal. The page behind it may be missing: then its beginning, up to the page's end.
std::string read_text(pid_t pid, const char* from) {
  constexpr std::size_t kPage = 4096;
  std::array<char, kLongestName + 1> text{};
  const std::size_t to_page_end = kPage - reinterpret_cast<std::uintptr_t>(from) % kPage;
  if (!read_bytes(pid, from, text.data(), kLongestName) &&
      !read_bytes(pid, from, text.data(), std::min(kLongestName, to_page_end)))
    return {};
  const std::string read(text.data());
  const bool printable =
      std::all_of(read.begin(), read.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return printable ? read : std::string{};
}

std::string name_of(pid_t pid, const RunningHandler& handlers, std::uint16_t id) {
  if (id == 0) return "0 (the undeliverable-message handler)";
  const char* name = nullptr;
  const std::uint64_t place = std::uint64_t{id} - handlers.first_named;
  if (place < handlers.name_count && read_value(pid, handlers.names + place, name))
    if (std::string text = read_text(pid, name); !text.empty()) return text;
  return fmt::format("{}", id);
}

}  // namespace

std::string operation_of(const RankRecord& record) {
  // The rank's own word: a program between the launcher and the rank may have another pid. The
  // number serves to look only, so that a wrong one does no harm.
  return read_text(record.pid.load(std::memory_order_relaxed),
                   record.operation.load(std::memory_order_relaxed));
}

HandlerNow handler_of(const RankRecord& record) {
  constexpr int kMostSets = 16;  // of handlers in one rank; more would be a list that has no end
  const pid_t pid = record.pid.load(std::memory_order_relaxed);
  const RunningHandler* at = record.handlers.load(std::memory_order_acquire);
  RunningHandler handlers;
  for (int i = 0; i < kMostSets && at != nullptr && read_value(pid, at, handlers); ++i) {
    at = handlers.next;
    std::uint32_t depth = 0;
    std::uint16_t id = 0;
    if (!read_value(pid, handlers.depth, depth)) continue;
    depth &= ~RunningHandler::kAsleep;
    if (depth <= handlers.base || !read_value(pid, handlers.id, id)) continue;
    const std::uint32_t wait_depth = record.wait_depth.load(std::memory_order_relaxed);
    return {name_of(pid, handlers, id), depth - handlers.base == wait_depth};
  }
  return {};
}

}  // namespace viaduct
