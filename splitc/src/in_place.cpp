/// Collectives of long arrays, between processes that reach each other's arrays where they lie.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "splitc/detail/machine.hpp"
#include "splitc/detail/memory.hpp"
#include "via/copy.hpp"
#include "viaduct/splitc/detail/collective.hpp"
#include "viaduct/splitc/detail/reduce.hpp"

namespace viaduct::splitc::detail {
namespace {

/// A process that copies a long array polls behind each part of this size.
constexpr std::size_t kBetweenPolls = std::size_t{64} << 10;

}  // namespace

/// Where the others find this process' array; 0: not all of them may look for it.
std::uint64_t CollectiveEngine::shown_place(const void* data, std::size_t bytes) {
  for (std::uint32_t process = 0; process < hot.procs; ++process)
    if (process != hot.myproc && machine_.by_message(process)) return 0;
  Memory& memory = machine_.memory();
  return memory.is_shared(data, bytes) ? memory.globalize(data) : 0;
}

/// Whether @p mine is true in all processes. No process leaves before all have asked.
bool CollectiveEngine::all_say(const CollectiveCall& call, std::uint64_t count, bool mine) {
  auto both = [](std::uint64_t a, std::uint64_t b) { return a & b; };
  return reduce_to_all(*this, call, std::uint64_t{mine ? 1U : 0U}, both, count) != 0;
}

void CollectiveEngine::copy_array(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kBetweenPolls) {
    via::copy_bytes(to + at, from + at, std::min(kBetweenPolls, bytes - at));
    light_poll();
  }
}

bool CollectiveEngine::broadcast_in_place(const CollectiveCall& call, std::uint32_t root,
                                          std::byte* data, std::uint64_t count) {
  const std::size_t bytes = count * call.element_bytes;
  std::uint64_t place = hot.myproc == root ? shown_place(data, bytes) : 0;
  begin(call, false, root, count);
  broadcast_piece(root, reinterpret_cast<std::byte*>(&place), sizeof place);
  if (place == 0) return false;
  const std::byte* from = data;
  if (hot.myproc != root) from = machine_.memory().find(root, place, bytes);
  if (from != nullptr && from != data) copy_array(data, from, bytes);
  return all_say(call, count, from != nullptr);
}

std::vector<std::byte*> CollectiveEngine::arrays_in_place(const CollectiveCall& call,
                                                          std::byte* data, std::uint64_t count) {
  const std::size_t bytes = count * call.element_bytes;
  const std::uint64_t mine = shown_place(data, bytes);
  std::vector<std::uint64_t> places(hot.procs);
  begin(call, true, 0, count);
  gather_rounds(&mine, sizeof mine, places.data());
  if (std::find(places.begin(), places.end(), 0) != places.end()) return {};
  std::vector<std::byte*> arrays(hot.procs, data);
  for (std::uint32_t process = 0; process < hot.procs; ++process)
    if (process != hot.myproc)
      arrays[process] = machine_.memory().find(process, places[process], bytes);
  const bool found = std::find(arrays.begin(), arrays.end(), nullptr) == arrays.end();
  return all_say(call, count, found) ? arrays : std::vector<std::byte*>{};
}

}  // namespace viaduct::splitc::detail
