#include "benchmarks/common/shared_block.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/common/machine.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/segment.hpp"

namespace viaduct::bench {

std::byte* share_block(Job& job, std::size_t bytes, Rank owner) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  constexpr const char* kKey = "bench.block";
  std::uint64_t offset = 0;
  if (job.rank() == owner) {
    offset = job.segment().allocate(bytes, kHugePage);
    job.bootstrap().put(kKey, std::as_bytes(std::span(&offset, 1)));
  }
  job.bootstrap().fence();
  const std::vector<std::byte> value = job.bootstrap().get(owner, kKey);
  if (value.size() != sizeof offset) {
    throw Error(
        std::errc::protocol_error,
        fmt::format("rank {} published {} bytes instead of an offset", index(owner), value.size()));
  }
  std::memcpy(&offset, value.data(), sizeof offset);
  return job.window_of(owner) + offset;
}

void require_own_core(Job& job, std::byte* block, Role role) {
  const int mine = pin_to_core(job.rank());
  Pair pair(reinterpret_cast<PairPage*>(block), role);
  const int other = static_cast<int>(pair.exchange(mine));
  if (mine != other) return;
  throw Error(std::errc::resource_unavailable_try_again,
              fmt::format("ranks 0 and 1 share core {}; this benchmark needs two cores for them "
                          "(taskset, cpuset or container limits may hide others)",
                          mine));
}

}  // namespace viaduct::bench
