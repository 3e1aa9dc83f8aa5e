#include "viaduct/splitc/settings.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <string_view>

#include "runtime/errors/codes.hpp"
#include "splitc/src/stage.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/via/channel/channel_end.hpp"

// The struct holds strings, so that it has no standard layout by the rules of C++; every supported
// compiler defines offsetof for it.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace viaduct::splitc {
namespace {

using config::Option;
using config::Type;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kTiB = std::int64_t{1} << 40;
constexpr std::int64_t kAddressEnd = std::int64_t{1} << 47;

// The address sanitizer uses the low addresses itself; the thread sanitizer accepts no high ones.
#if defined(__SANITIZE_ADDRESS__)
#define VIADUCT_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VIADUCT_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef VIADUCT_ADDRESS_SANITIZER
constexpr std::string_view kDefaultBase = "65536G";
#else
constexpr std::string_view kDefaultBase = "64G";
#endif

constexpr std::array<Option, 13> kOptions{{
    {"path", "VIADUCT_SPLITC_PATH", "auto", "", Type::text, 0, 0, "auto|direct|rdma|message",
     "how operations on other processes' memory go where there is a choice; auto: the fastest",
     offsetof(Settings, path)},
    {"rdma_from", "VIADUCT_SPLITC_RDMA_FROM", "auto", "bytes", Type::bytes, 1, kTiB, "",
     "path auto: values and blocks from this length on go to another host by RDMA read and write, "
     "without the owner's part; less than 9: words, too, which a device need not write whole; "
     "auto: from 256 on, and from 9 on where that is faster than messages",
     offsetof(Settings, rdma_from)},
    {"heap", "VIADUCT_HEAP", "shared", "", Type::text, 0, 0, "shared|private",
     "shared: malloc of a Split-C program takes memory that peers reach directly; private: by "
     "messages only",
     offsetof(Settings, heap)},
    {"off_node", "VIADUCT_SPLITC_OFF_NODE", "no", "", Type::boolean, 0, 1, "",
     "for tests: processes of one host share no memory, as those of different hosts",
     offsetof(Settings, off_node)},
    {"vis", "VIADUCT_SPLITC_VIS", "1", "VIs", Type::integer, 1, 2, "",
     "VIs to one peer; 2: blocks of gets and puts have one of their own, as in the earlier "
     "implementation",
     offsetof(Settings, vis)},
    {"slots", "VIADUCT_SPLITC_SLOTS", "128", "slots", Type::integer, 8, 32768, "",
     "64-byte slots of the ring to one peer; a power of two", offsetof(Settings, slots)},
    {"credits", "VIADUCT_SPLITC_CREDITS", "auto", "messages", Type::integer, 1, 16384, "",
     "requests to one peer that may be outstanding (k); auto: as many as the slots allow",
     offsetof(Settings, credits)},
    {"staging_bytes", "VIADUCT_SPLITC_STAGING", "128K", "bytes", Type::bytes, 4096, 4096 * 1024, "",
     "memory for the blocks of this process that messages carry, for all its peers; a multiple of "
     "4K",
     offsetof(Settings, staging_bytes)},
    {"segment_base", "VIADUCT_SEGMENT_BASE", kDefaultBase, "", Type::bytes, 1 << 16,
     kAddressEnd - (1 << 16), "",
     "address of the shared region, the same in every process (0x1000000000); a multiple of 2M",
     offsetof(Settings, segment_base)},
    {"spread_bytes", "VIADUCT_SPREAD_BYTES", "16G", "bytes", Type::bytes, kMiB, 16 * kTiB, "",
     "its part for spread memory: address space, memory only where something is allocated",
     offsetof(Settings, spread_bytes)},
    {"heap_bytes", "VIADUCT_HEAP_BYTES", "16G", "bytes", Type::bytes, 64 * kMiB, 16 * kTiB, "",
     "its part for malloc: address space, memory only where something is allocated",
     offsetof(Settings, heap_bytes)},
    {"checked_bytes", "VIADUCT_CHECKED_BYTES", "512M", "bytes", Type::bytes, kMiB, 16 * kTiB, "",
     "of a program that splitcc --checked has compiled: memory in each process for the accesses "
     "between two barriers",
     offsetof(Settings, checked_bytes)},
    {"checked_fatal", "VIADUCT_CHECKED_FATAL", "no", "", Type::boolean, 0, 1, "",
     "of such a program: end with exit code 66 when a race has been found",
     offsetof(Settings, checked_fatal)},
}};

constexpr std::int64_t kRegionAlignment = 2 * kMiB;

void check_region(const Settings& s) {
  if (s.segment_base % kRegionAlignment != 0)
    throw Error(errors::bad_setting, std::errc::invalid_argument,
                "VIADUCT_SEGMENT_BASE=" + std::to_string(s.segment_base) +
                    " is not a multiple of 2 MiB (2097152)");
  if (s.spread_bytes > kAddressEnd - s.segment_base ||
      s.heap_bytes > kAddressEnd - s.segment_base - s.spread_bytes)
    throw Error(errors::bad_setting, std::errc::invalid_argument,
                "a region at " + std::to_string(s.segment_base) + " (VIADUCT_SEGMENT_BASE) of " +
                    std::to_string(s.spread_bytes) + " and " + std::to_string(s.heap_bytes) +
                    " bytes (VIADUCT_SPREAD_BYTES, VIADUCT_HEAP_BYTES) goes beyond 2^47, the end "
                    "of the address space: take less");
}

}  // namespace

std::span<const Option> options() noexcept { return kOptions; }

Settings load_settings() {
  Settings s;
  config::load(&s, options());
  if (!std::has_single_bit(static_cast<std::uint64_t>(s.slots)))
    throw Error(errors::bad_setting, std::errc::invalid_argument,
                "VIADUCT_SPLITC_SLOTS=" + std::to_string(s.slots) +
                    " is not a power of two: take " +
                    std::to_string(std::bit_ceil(static_cast<std::uint64_t>(s.slots))));
  const std::int64_t most = via::channel::Flow::most_credits(static_cast<std::uint32_t>(s.slots));
  if (s.credits == config::kAuto) s.credits = most;
  if (s.credits > most)
    throw Error(errors::bad_setting, std::errc::invalid_argument,
                "VIADUCT_SPLITC_CREDITS=" + std::to_string(s.credits) + ": a ring of " +
                    std::to_string(s.slots) + " slots has room for " + std::to_string(most) +
                    " credits; raise VIADUCT_SPLITC_SLOTS");
  if (s.staging_bytes % static_cast<std::int64_t>(detail::kBlockBytes) != 0)
    throw Error(errors::bad_setting, std::errc::invalid_argument,
                "VIADUCT_SPLITC_STAGING=" + std::to_string(s.staging_bytes) +
                    " is not a multiple of 4 KiB (4096)");
  check_region(s);
  return s;
}

}  // namespace viaduct::splitc
