// vi: the Virtual Interface layer by its C interface, VIPL, beside the C++ interface on the same
// NIC in the same run. Run as `viaduct-run -n 2 --bind vi`; see docs/benchmarks.md. After Begel et
// al. 2001 and Speight, Abdel-Shafi, Bennett 1999: latency, bandwidth, polling against blocking,
// the processor time of both, registration.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/common/block_link.hpp"
#include "benchmarks/common/conclude.hpp"
#include "benchmarks/common/curve.hpp"
#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/loopback.hpp"
#include "benchmarks/common/measurements.hpp"
#include "benchmarks/common/options.hpp"
#include "benchmarks/common/shared_block.hpp"
#include "benchmarks/common/vi_ends.hpp"
#include "benchmarks/common/vi_traffic.hpp"
#include "benchmarks/common/yardsticks.hpp"
#include "via/registration_cache.hpp"
#include "via/vipl/underneath.hpp"
#include "via/vipl/vipl.h"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::uint32_t kShort = 16;  // bytes, as vi_rtt_half_ns of logp
constexpr std::uint32_t kLatencySizes[] = {1, 16, 64, 1024, 4096, 65536, 1 << 20};
constexpr std::uint32_t kBandwidthSizes[] = {64, 1024, 4096, 65536, 1 << 20};
constexpr std::uint32_t kRegistrationSizes[] = {4096, 65536, 1 << 20};

/// Lines that both ranks have mapped, behind the yardsticks' block.
struct Flags {
  BlockLink::Flags blocks;
  PairPage::Word consumed[6];  // of each VI
};

/// A NIC of VIPL, closed at the end.
class OpenNic {
 public:
  explicit OpenNic(const std::string& device) {
    if (VipOpenNic(device.c_str(), &handle_) != VIP_SUCCESS)
      throw Error(std::errc::no_such_device, "VipOpenNic(\"" + device + "\") has failed");
  }
  ~OpenNic() { (void)VipCloseNic(handle_); }
  OpenNic(const OpenNic&) = delete;
  OpenNic& operator=(const OpenNic&) = delete;
  [[nodiscard]] VIP_NIC_HANDLE handle() const noexcept { return handle_; }

 private:
  VIP_NIC_HANDLE handle_ = nullptr;
};

/// The cost to register a program's own memory, and to deregister it.
class Registration {
 public:
  Registration(VIP_NIC_HANDLE vipl_nic, via::Nic& nic, std::byte* memory)
      : vipl_nic_(vipl_nic), nic_(nic), memory_(memory), tag_(nic.create_tag()) {
    if (VipCreatePtag(vipl_nic, &rights_.Ptag) != VIP_SUCCESS)
      throw std::runtime_error("VipCreatePtag has failed");
  }

  void by_vipl(std::uint32_t bytes) {
    VIP_MEM_HANDLE handle = 0;
    if (VipRegisterMem(vipl_nic_, memory_, bytes, &rights_, &handle) != VIP_SUCCESS ||
        VipDeregisterMem(vipl_nic_, memory_, handle) != VIP_SUCCESS)
      throw std::runtime_error("VipRegisterMem or VipDeregisterMem has failed");
  }
  void by_vi(std::uint32_t bytes) {
    const via::MemoryRegion region = nic_.register_memory(tag_, memory_, bytes, via::Rights::none);
    if (region.handle() == via::MemoryHandle::none) throw std::runtime_error("no region");
  }
  void by_cache(std::uint32_t bytes) {
    if (!cache_) cache_.emplace(nic_, tag_, via::RegistrationCache::Limits{2 * kTrafficHalf, 1024});
    if (!cache_->get(memory_, bytes)) throw std::runtime_error("no region");
  }
  void by_copy(std::uint32_t bytes) { std::memcpy(memory_ + kTrafficHalf, memory_, bytes); }

  /// Why nothing is cached; empty: all is well, or by_cache() was not called.
  [[nodiscard]] std::string problem() const { return cache_ ? cache_->problem() : std::string(); }

 private:
  VIP_NIC_HANDLE vipl_nic_;
  via::Nic& nic_;
  std::byte* memory_;
  via::ProtectionTag tag_;
  std::optional<via::RegistrationCache> cache_;  // made late: it has a thread
  VIP_MEM_ATTRIBUTES rights_{};
};

class ViBenchmark {
 public:
  ViBenchmark(const OpenNic& vipl_nic, via::Nic& nic, std::byte* block, Role role,
              const Options& options)
      : options_(options),
        yardsticks_(block, role),
        flags_(*reinterpret_cast<Flags*>(block + Yardsticks::block_bytes())),
        blocks_(pair(), &flags_.blocks),
        memory_(own_memory(2 * kTrafficHalf)),
        tcp_(pair(), Transport::tcp),
        udp_(pair(), Transport::udp),
        registration_(vipl_nic.handle(), nic, memory_.get()) {
    make_vis(vipl_nic.handle(), nic, other(role));
    add_latencies();
    add_rates();
    add_waiting();
    for (const std::uint32_t bytes : kBandwidthSizes) add_bandwidths(bytes);
    for (const std::uint32_t bytes : kRegistrationSizes) add_registrations(bytes);
  }

  static std::size_t block_bytes() noexcept { return Yardsticks::block_bytes() + sizeof(Flags); }

  Figures run() {
    if (options_.iterations == 0) divisor_ = pair().busy_divisor();
    Figures figures = list_.figures(pair(), options_.rounds, divisor_);
    registrations_.add_to(figures, registrations_.run(pair(), options_.rounds));
    if (!registration_.problem().empty())
      figures.add_note("nothing is cached here: " + registration_.problem());
    return figures;
  }

 private:
  static Rank other(Role role) noexcept { return role == Role::sender ? Rank{1} : Rank{0}; }
  Pair& pair() noexcept { return yardsticks_.pair(); }

  void add(std::string name, std::string unit, std::string against,
           std::function<double()> measure) {
    list_.add(std::move(name), std::move(unit), std::move(against), std::move(measure));
  }
  [[nodiscard]] std::uint64_t iterations(std::uint64_t defined) const noexcept {
    return options_.iterations != 0 ? std::min(options_.iterations, defined)
                                    : std::max<std::uint64_t>(defined / divisor_, 20);
  }

  /// The VIs of one kind, and the traffic over each.
  template <class End>
  struct Vis {
    std::vector<std::unique_ptr<End>> ends;
    std::vector<std::unique_ptr<ViTraffic<End>>> traffics;
    [[nodiscard]] ViTraffic<End>& first() const noexcept { return *traffics[0]; }
  };

  // The speed of a VI depends on the place of its memory: a VI that is made as the second, fourth
  // or sixth one is slower by a twentieth than the others, with either interface. So there are two
  // VIs of each kind, one at an odd place and one at an even place.
  enum class Kind : std::uint8_t { cxx, vipl, vipl_queue };
  static constexpr std::array kOrder{Kind::cxx, Kind::vipl,       Kind::vipl,
                                     Kind::cxx, Kind::vipl_queue, Kind::vipl_queue};
  void make_vis(VIP_NIC_HANDLE vipl_nic, via::Nic& nic, Rank peer) {
    std::uint8_t place = 0;
    for (const Kind kind : kOrder) {
      const auto vipl = [&](bool with_queue) {
        return std::make_unique<ViplEnd>(vipl_nic, pair(), peer, memory_.get(), 2 * kTrafficHalf,
                                         kTrafficDepth, place, with_queue);
      };
      switch (kind) {
        case Kind::cxx:
          add_vi(vi_,
                 std::make_unique<CxxEnd>(nic, pair(), peer, memory_.get(), 2 * kTrafficHalf,
                                          kTrafficDepth, place),
                 place);
          break;
        case Kind::vipl:
          add_vi(vipl_, vipl(false), place);
          break;
        case Kind::vipl_queue:
          add_vi(vipl_queue_, vipl(true), place);
      }
      ++place;
    }
  }
  template <class End>
  void add_vi(Vis<End>& vis, std::unique_ptr<End> end, std::uint8_t place) {
    vis.traffics.push_back(
        std::make_unique<ViTraffic<End>>(*end, pair(), memory_.get(), flags_.consumed[place]));
    vis.ends.push_back(std::move(end));
  }
  /// The mean over the VIs of a kind, of RTT/2 of messages of @p bytes.
  template <Waiting How = Waiting::poll, class End>
  [[nodiscard]] double rtt_half_ns(const Vis<End>& vis, std::uint64_t defined,
                                   std::uint32_t bytes) {
    const std::uint64_t trips = half(iterations(defined));
    return mean(vis,
                [&](auto& traffic) { return traffic.template rtt_half_ns<How>(trips, bytes); });
  }
  template <class End>
  [[nodiscard]] double one_way_ns(const Vis<End>& vis, std::uint64_t defined) {
    const std::uint64_t messages = half(iterations(defined));
    return mean(vis, [&](auto& traffic) { return traffic.one_way_ns(messages, kShort); });
  }
  static std::uint64_t half(std::uint64_t operations) noexcept { return operations / 2 + 1; }
  template <class End, class Measure>
  static double mean(const Vis<End>& vis, Measure measure) {
    double sum = 0;
    for (const auto& traffic : vis.traffics) sum += measure(*traffic);
    return sum / static_cast<double>(vis.traffics.size());
  }

  void add_latencies() {
    add("hand_over_ns", "ns", "", [&] { return yardsticks_.hand_over_ns(iterations(100'000)); });
    add("udp_rtt_half_ns", "ns", "", [&] { return udp_.rtt_half_ns(iterations(2'000)); });
    add("tcp_rtt_half_ns", "ns", "", [&] { return tcp_.rtt_half_ns(iterations(2'000)); });
    for (const std::uint32_t bytes : kLatencySizes) {
      constexpr std::uint64_t kBytesARound = std::uint64_t{128} << 20;
      const std::uint64_t trips = std::min<std::uint64_t>(50'000, kBytesARound / bytes);
      const std::string vi = fmt::format("vi_rtt_half_{}_ns", size_name(bytes));
      add(vi, "ns", "hand_over_ns", [=, this] { return rtt_half_ns(vi_, trips, bytes); });
      add(fmt::format("vipl_rtt_half_{}_ns", size_name(bytes)), "ns", vi,
          [=, this] { return rtt_half_ns(vipl_, trips, bytes); });
    }
    add("vipl_queue_rtt_half_ns", "ns", "vi_rtt_half_16b_ns",
        [&] { return rtt_half_ns(vipl_queue_, 50'000, kShort); });
    add("vipl_wait_rtt_half_ns", "ns", "vipl_rtt_half_16b_ns",
        [&] { return rtt_half_ns<Waiting::block>(vipl_, 50'000, kShort); });
  }

  void add_rates() {
    constexpr std::uint64_t kMessages = 1'000'000;
    constexpr double kMillionPerNs = 1e3;
    add("ring_rate_mps", "M/s", "", [&] {
      double best = 0;
      for (const RingLayout layout : kRingLayouts)
        best = std::max(best, yardsticks_.ring_rate_mps(layout, iterations(10'000'000)));
      return best;
    });
    add("vi_rate_mps", "M/s", "ring_rate_mps",
        [&] { return kMillionPerNs / one_way_ns(vi_, kMessages); });
    add("vipl_rate_mps", "M/s", "vi_rate_mps",
        [&] { return kMillionPerNs / one_way_ns(vipl_, kMessages); });
  }

  // Polled and waited for at the same pace.
  void add_waiting() {
    constexpr std::uint32_t kMessages = 20;
    add("futex_wake_ns", "ns", "", [&] { return yardsticks_.futex_wake_ns(kMessages); });
    add("vipl_polling_rtt_half_ns", "ns", "hand_over_ns",
        [&] { return (idle_ = vipl_.first().idle<Waiting::poll>(kMessages)).rtt_half_ns; });
    list_.push_back(
        {"vipl_polling_cpu_percent", "%", "a whole core", [&] { return idle_.cpu_percent; }, 100});
    add("vipl_blocking_rtt_half_ns", "ns", "futex_wake_ns",
        [&] { return (idle_ = vipl_.first().idle<Waiting::block>(kMessages)).rtt_half_ns; });
    add("vipl_blocking_cpu_percent", "%", "vipl_polling_cpu_percent",
        [&] { return idle_.cpu_percent; });
  }

  [[nodiscard]] double moved_gbs(const Mover& mover, Block block, std::size_t piece) {
    constexpr std::size_t kManyPieces = 1024;
    constexpr std::uint32_t kBlocks = 16;
    block.piece = piece;
    block.bytes = kMiB;
    if (options_.iterations != 0)
      block.bytes = std::clamp<std::size_t>(options_.iterations * piece, piece, kMiB);
    const bool one = divisor_ != 1 || options_.iterations != 0 || kMiB / piece > kManyPieces;
    return blocks_.round(mover, block, one ? 1 : kBlocks).alone_gbs;
  }

  template <class End>
  void add_ways(const char* prefix, ViTraffic<End>& traffic, std::uint32_t bytes,
                const std::function<std::string(const char*)>& against) {
    const std::string size = size_name(bytes);
    for (const char* way : {"write", "read"})
      add(fmt::format("{}_{}_{}_gbs", prefix, way, size), "GB/s", against(way),
          [=, this, &traffic, write = std::strcmp(way, "write") == 0] {
            return moved_gbs(traffic.rdma(write), traffic.block(write), bytes);
          });
    constexpr std::uint64_t kBytesARound = 16 * kMiB;
    add(fmt::format("{}_send_{}_gbs", prefix, size), "GB/s", against("send"), [=, this, &traffic] {
      return bytes / traffic.one_way_ns(
                         iterations(std::min<std::uint64_t>(20'000, kBytesARound / bytes)), bytes);
    });
  }

  void add_bandwidths(std::uint32_t bytes) {
    const std::string limit = fmt::format("memcpy_{}_gbs", size_name(bytes));
    add(limit, "GB/s", "", [=, this] {
      Mover mover;
      mover.move = [](const Block& b) {
        for (std::size_t at = 0; at < b.bytes; at += b.piece)
          std::memcpy(b.to + at, b.from + at, b.piece);
      };
      Block block;
      block.from = memory_.get();
      block.to = yardsticks_.bulk_target();
      return moved_gbs(mover, block, bytes);
    });
    add_ways("vi", vi_.first(), bytes, [&](const char*) { return limit; });
    add_ways("vipl", vipl_.first(), bytes,
             [&](const char* way) { return fmt::format("vi_{}_{}_gbs", way, size_name(bytes)); });
  }

  // The sender's time for one call, while the peer sleeps.
  [[nodiscard]] double each_ns(std::uint32_t bytes, void (Registration::*way)(std::uint32_t)) {
    constexpr std::uint64_t kTimes = 200;
    const std::uint64_t times = iterations(kTimes);
    double ns = 0;
    if (pair().is_sender()) {
      (registration_.*way)(bytes);  // a first call, not measured, fills the cache
      const Stopwatch watch;
      for (std::uint64_t i = 0; i < times; ++i) (registration_.*way)(bytes);
      ns = watch.elapsed_ns() / static_cast<double>(times);
    }
    return pair().from_sender(ns);
  }

  void add_registrations(std::uint32_t bytes) {
    const std::string size = size_name(bytes);
    const auto add_one = [&](const char* prefix, const std::string& against,
                             void (Registration::*way)(std::uint32_t)) {
      registrations_.add(fmt::format("{}_{}_ns", prefix, size), "ns", against,
                         [=, this] { return each_ns(bytes, way); });
    };
    const std::string vi = fmt::format("vi_register_{}_ns", size);
    add_one("copy", "", &Registration::by_copy);
    add_one("vi_register", fmt::format("copy_{}_ns", size), &Registration::by_vi);
    add_one("vipl_register", vi, &Registration::by_vipl);
    add_one("cached_register", vi, &Registration::by_cache);
  }

  const Options& options_;
  std::uint64_t divisor_ = 1;  // of the numbers of operations
  Yardsticks yardsticks_;
  Flags& flags_;
  BlockLink blocks_;
  OwnMemory memory_;
  Loopback tcp_, udp_;
  Vis<CxxEnd> vi_;
  Vis<ViplEnd> vipl_, vipl_queue_;
  Registration registration_;
  ViTraffic<ViplEnd>::Idle idle_;  // of the measurement before
  Measurements list_;
  // Run last: the cache's thread makes the process one of two threads, in which VIPL takes a lock.
  Measurements registrations_;
};

/// Reads the command line into @p options.  False: @p exit_code says how the program ends.
bool read(int argc, char** argv, Options& options, int& exit_code, bool speak) {
  program::CommandLine app(
      "Measures the Virtual Interface layer by its C interface, VIPL, beside the C++ one.");
  add_common_options(app, options);
  return app.read(argc, argv, exit_code, speak);
}

int measure(const OpenNic& vipl_nic, Job& job, via::Nic& nic, const Options& options) {
  std::byte* const block = share_block(job, ViBenchmark::block_bytes(), Rank{1});
  if (index(job.rank()) < 2) {
    const Role role = job.rank() == Rank{0} ? Role::sender : Role::peer;
    require_own_core(job, block, role);
    ViBenchmark benchmark(vipl_nic, nic, block, role, options);
    const Figures figures = benchmark.run();
    if (role == Role::sender) conclude(figures, job, options.json_file);
  }
  job.bootstrap().fence();  // the others wait here, blocked
  return 0;
}

int body(int argc, char** argv) {
  Options options;
  int exit_code = 0;
  // The provider is known before the NIC is opened, the rank only afterwards.
  const bool well = read(argc, argv, options, exit_code, false);
  const OpenNic vipl_nic(well ? provider_of(options) : "shm");
  const auto [job, nic] = via::vipl::underneath();
  if (!well) {
    (void)read(argc, argv, options, exit_code, job->rank() == Rank{0});
    return exit_code;
  }
  if (job->size() < 2)
    throw Error(std::errc::invalid_argument,
                "vi needs two ranks; run it as: viaduct-run -n 2 --bind vi");
  return measure(vipl_nic, *job, *nic, options);
}

}  // namespace
}  // namespace viaduct::bench

// VIPL makes the Job, and ends it at exit().
int main(int argc, char** argv) {
  try {
    return viaduct::bench::body(argc, argv);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "vi: %s\n", problem.what());
    return 1;
  }
}
