#include "runtime/src/memory_limit.hpp"

#include <algorithm>

#include "runtime/src/control_group.hpp"

namespace viaduct {
namespace {

void tighten(MemoryHeadroom& headroom, std::uint64_t limit, std::uint64_t used,
             const std::string& source) {
  const std::uint64_t free_bytes = limit > used ? limit - used : 0;
  if (free_bytes < headroom.free_bytes) headroom = {free_bytes, limit, used, source};
}

void look_at_group(MemoryHeadroom& headroom, const ControlGroup& group) {
  const std::string prefix = group.directory + "/memory.";
  const std::string limit_file = prefix + (group.version2 ? "max" : "limit_in_bytes");
  const auto limit = read_number(limit_file);
  const auto used = read_number(prefix + (group.version2 ? "current" : "usage_in_bytes"));
  if (!limit || !used) return;
  const std::string stat = read_small_file(prefix + "stat").value_or("");
  const std::string total =
      group.version2 ? "" : "total_";  // version 1 counts the groups below only there
  const std::uint64_t cache = field_of(stat, total + "inactive_file").value_or(0) +
                              field_of(stat, total + "active_file").value_or(0);
  tighten(headroom, *limit, *used - std::min(cache, *used), limit_file);
}

void look_at_machine(MemoryHeadroom& headroom, const std::string& root) {
  constexpr std::uint64_t kKiB = 1024;
  const std::string path = root + "/proc/meminfo";
  const std::string text = read_small_file(path).value_or("");
  const auto available = field_of(text, "MemAvailable:");
  if (!available) return;
  const std::uint64_t total =
      field_of(text, "MemTotal:").value_or(0) + field_of(text, "SwapTotal:").value_or(0);
  const std::uint64_t free_now = *available + field_of(text, "SwapFree:").value_or(0);
  tighten(headroom, total * kKiB, (total - std::min(free_now, total)) * kKiB, path);
}

}  // namespace

MemoryHeadroom memory_headroom(const std::string& root) {
  MemoryHeadroom headroom;
  for (const ControlGroup& group : control_groups(root, "memory")) look_at_group(headroom, group);
  look_at_machine(headroom, root);
  return headroom;
}

}  // namespace viaduct
