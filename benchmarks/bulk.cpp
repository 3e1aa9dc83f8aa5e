// bulk: bandwidth by message size of native VI, Active Messages and Split-C, beside memcpy between
// the same processes. Run as `viaduct-run -n 2 --bind bulk`; see docs/benchmarks.md. After Begel et
// al. 2001, figure 5.

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/common/block_link.hpp"
#include "benchmarks/common/bulk_report.hpp"
#include "benchmarks/common/machine.hpp"
#include "benchmarks/common/measurements.hpp"
#include "benchmarks/common/options.hpp"
#include "benchmarks/common/shared_block.hpp"
#include "benchmarks/common/vi_nic.hpp"
#include "benchmarks/common/vi_writer.hpp"
#include "benchmarks/common/yardsticks.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/am/token.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/splitc.hpp"

namespace viaduct::bench {
namespace {

using splitc::global_ptr;
using splitc::Path;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kLeastBlock = kMiB;  // smaller pieces fill one block, one behind the other
constexpr std::size_t kMostBlock = Yardsticks::kBulkBytes;

// Written by the handlers of this rank, which may be a thread.
constinit thread_local std::uint64_t pieces_seen = 0;
void on_piece(am::Token&, std::span<std::byte>) { ++pieces_seen; }

void copy_pieces(const Block& block) {
  for (std::size_t at = 0; at < block.bytes; at += block.piece)
    std::memcpy(block.to + at, block.from + at, block.piece);
}

/// One curve: a way to move blocks, and the blocks' places.
struct Way : Curve {
  Path path = Path::automatic;
  Mover mover;
  Block block;  // this rank's addresses
};

class Bulk {
 public:
  Bulk(Job& job, std::byte* block, Role role, const Options& options)
      : options_(options),
        yardsticks_(block, role),
        link_(pair(), reinterpret_cast<BlockLink::Flags*>(block + Yardsticks::block_bytes())),
        memory_(splitc::all_malloc<std::byte>(most())),
        fetched_(splitc::all_malloc<std::byte>(most())),
        theirs_(splitc::toglobal(1, memory_)),
        context_(job),
        bundle_(context_),
        endpoint_(bundle_),
        peer_{other(role)},
        vi_nic_(context_, vi_provider()),
        writer_(vi_nic_.get(), pair(), Rank{other(role)}, vi_memory()) {
    endpoint_.map_all();
    if (is_sender())
      own_segment_ = endpoint_.make_segment(most()).data();
    else
      endpoint_.set_segment({yardsticks_.bulk_target(), kMostBlock});
    pair().meet();
    add_window_ways();
    add_splitc_ways();
    for (const std::size_t piece : sizes())
      for (const Way& way : ways_) add(way, piece);
  }

  static std::size_t block_bytes() noexcept {
    return Yardsticks::block_bytes() + sizeof(BlockLink::Flags);
  }

  void run() {
    divisor_ = pair().busy_divisor();
    rounds_ = list_.run(pair(), divisor_ == 1 ? options_.rounds : std::min(options_.rounds, 3U));
  }

  [[nodiscard]] BulkReport report() const {
    BulkReport report({ways_.begin(), ways_.end()}, sizes(), list_, rounds_);
    if (divisor_ != 1)
      report.add_note(
          "other programs use these cores: fewer blocks a round, and at most 3 rounds; the ratios "
          "say little");
    return report;
  }

 private:
  static std::uint32_t other(Role role) noexcept { return role == Role::sender ? 1 : 0; }
  Pair& pair() noexcept { return yardsticks_.pair(); }
  bool is_sender() noexcept { return pair().is_sender(); }
  std::span<std::byte> vi_memory() {
    if (is_sender()) return {memory_, most()};
    return {yardsticks_.bulk_target(), most()};
  }

  [[nodiscard]] std::size_t most() const { return std::max(sizes().back(), kLeastBlock); }
  [[nodiscard]] std::vector<std::size_t> sizes() const {
    if (options_.size_bytes != 0) {  // blocks are whole: a power of two, at least a word
      std::size_t size = sizeof(std::uint64_t);
      while (2 * size <= std::min(options_.size_bytes, kMostBlock)) size *= 2;
      return {size};
    }
    std::vector<std::size_t> all{8, kShortMessage};
    for (std::size_t size = 64; size <= kMostBlock; size *= 4) all.push_back(size);
    return all;
  }

  void add(const Way& way, std::size_t piece) {
    const bool limit = way.is_yardstick();
    const Way& yardstick = limit ? way : find(way.yardstick);
    const Way& reader = limit ? way : find(way.read_yardstick());
    // Both figures come from the same blocks.
    list_.add(way.alone(piece), "GB/s", limit ? "" : yardstick.alone(piece), [this, &way, piece] {
      splitc::force_path(way.path);
      Block block = way.block;
      block.piece = piece;
      block.bytes = block_of(piece);
      const BlockLink::Bandwidth measured = link_.round(way.mover, block, blocks(piece));
      read_gbs_ = measured.read_gbs;
      splitc::all_store_sync();
      return measured.alone_gbs;
    });
    list_.add(way.read(piece), "GB/s", limit ? "" : reader.read(piece),
              [this] { return read_gbs_; });
  }

  [[nodiscard]] std::size_t block_of(std::size_t piece) const noexcept {
    if (options_.iterations == 0) return std::max(piece, kLeastBlock);
    return std::clamp<std::size_t>(options_.iterations * piece, piece,
                                   std::max(piece, kLeastBlock));
  }
  [[nodiscard]] std::uint32_t blocks(std::size_t piece) const noexcept {
    constexpr std::size_t kBytesARound = 16 * kMiB;
    constexpr std::size_t kManyPieces = 1024;
    if (divisor_ != 1 || options_.iterations != 0 || kLeastBlock / piece > kManyPieces) return 1;
    return static_cast<std::uint32_t>(std::max<std::size_t>(1, kBytesARound / block_of(piece)));
  }

  [[nodiscard]] const Way& find(const std::string& name) const {
    return *std::find_if(ways_.begin(), ways_.end(),
                         [&](const Way& way) { return way.name == name; });
  }

  // The target is memory of the job's segment, since the NIC maps only that.
  void add_window_ways() {
    Way way;
    way.block.from = memory_;
    way.block.to = yardsticks_.bulk_target();
    way.name = "memcpy";
    way.mover.move = copy_pieces;
    ways_.push_back(way);

    const bool apart = splitc::detail::any_off_node();
    if (!apart) add_pull(way);
    way.yardstick = "memcpy";
    way.name = "vi_write";
    way.mover.move = [this](const Block& b) { writer_.write(b.from, b.bytes, b.piece); };
    ways_.push_back(way);

    way.name = "am_bulk_private";
    if (!apart) way.pulled_yardstick = "memcpy_pull";
    way.mover.all_new = true;
    way.mover.move = [this](const Block& b) {
      for (std::size_t at = 0; at < b.bytes; at += b.piece)
        if (endpoint_.request_bulk<on_piece>(peer_, std::span(b.from + at, b.piece), at) !=
            Status::ok)
          throw std::runtime_error("request_bulk failed");
    };
    way.mover.serve = [this] { bundle_.poll(); };
    if (apart) way.mover.push = way.mover.serve;
    way.mover.arrive = [this](const Block& b) {
      while (pieces_seen != b.bytes / b.piece) bundle_.poll();
      pieces_seen = 0;
    };
    ways_.push_back(way);
    way.name = "am_bulk";
    if (is_sender()) way.block.from = own_segment_;
    ways_.push_back(way);
  }

  // The receiver copies, out of the sender's memory.
  void add_pull(Way way) {
    const global_ptr<std::byte> source = splitc::toglobal(0, memory_);
    (void)splitc::read(source);  // maps the sender's memory
    splitc::barrier();
    if (!is_sender()) way.block.from = splitc::detail::place_of(source.word());
    if (way.block.from == nullptr) return;
    way.name = "memcpy_pull";
    way.mover = {};
    way.mover.move = [](const Block&) {};
    way.mover.arrive = copy_pieces;
    way.mover.ends_at_peer = way.mover.all_new = true;
    ways_.push_back(way);
  }

  // Into and out of the peer's spread memory.
  void add_splitc_ways() {
    (void)splitc::read(theirs_);  // maps the peer's memory
    splitc::barrier();            // where nothing is mapped, the peer has to answer
    Way put;
    put.block.from = memory_;
    put.block.to = is_sender() ? splitc::detail::place_of(theirs_.word()) : memory_;
    put.name = "memcpy_put";
    put.mover.move = copy_pieces;
    const bool apart = splitc::detail::any_off_node();  // as if on two hosts: nothing is mapped
    if (put.block.to == nullptr && !apart)
      throw Error(std::errc::not_supported,
                  "the other rank's memory is not mapped here, so that there is no direct path to "
                  "measure: run both ranks on one host, without VIADUCT_SPLITC_PATH and with "
                  "provider shm");
    Way get = put;
    get.name = "memcpy_get";
    get.mover.fetches = get.mover.all_new = true;
    get.block.from = put.block.to;
    get.block.to = fetched_;
    if (!apart) {
      ways_.push_back(put);
      ways_.push_back(get);
    }
    put.yardstick = apart ? "memcpy" : put.name;
    get.yardstick = apart ? "memcpy" : get.name;
    put.mover.move = [this](const Block& b) { put_pieces(b); };
    get.mover.move = [this](const Block& b) { get_pieces(b); };
    put.mover.serve = get.mover.serve = [] { splitc::poll(); };
    if (apart) put.mover.push = put.mover.serve;
    Way store = put;
    store.mover.move = [this](const Block& b) { store_pieces(b); };
    store.mover.arrive = [](const Block& b) { splitc::store_sync(b.bytes); };
    store.mover.ends_at_peer = store.mover.all_new = true;
    if (!apart) store.pulled_yardstick = "memcpy_pull";
    const std::pair<Path, const char*> paths[] = {
        {Path::automatic, ""}, {Path::rdma, "_rdma"}, {Path::message, "_message"}};
    for (const auto& [path, suffix] : paths) {
      put.path = get.path = store.path = path;
      put.name = fmt::format("splitc_bulk_put{}", suffix);
      get.name = fmt::format("splitc_bulk_get{}", suffix);
      store.name = fmt::format("splitc_bulk_store{}", suffix);
      ways_.push_back(put);
      ways_.push_back(get);
      if (path != Path::rdma) ways_.push_back(store);  // stores are always messages
    }
  }

  /// Two hosts have provider verbs where none is named.
  [[nodiscard]] std::string vi_provider() {
    if (!context_.nic().is_remote(Rank{other(pair().role())})) return "shm";
    const std::string named = provider_of(options_);
    return named == "shm" ? "verbs" : named;
  }

  void put_pieces(const Block& b) {
    for (std::size_t at = 0; at < b.bytes; at += b.piece)
      (void)splitc::bulk_put(theirs_ + static_cast<std::ptrdiff_t>(at), b.from + at, b.piece);
    splitc::sync();
  }
  void get_pieces(const Block& b) {
    for (std::size_t at = 0; at < b.bytes; at += b.piece)
      (void)splitc::bulk_get(b.to + at, theirs_ + static_cast<std::ptrdiff_t>(at), b.piece);
    splitc::sync();
  }
  void store_pieces(const Block& b) {
    for (std::size_t at = 0; at < b.bytes; at += b.piece)
      splitc::bulk_store(theirs_ + static_cast<std::ptrdiff_t>(at), b.from + at, b.piece);
  }

  Options options_;
  Yardsticks yardsticks_;
  BlockLink link_;
  std::byte* memory_;                 // memory that is sent, put into, fetched from
  std::byte* fetched_;                // where to
  std::byte* own_segment_ = nullptr;  // the sender's, which the peer maps
  global_ptr<std::byte> theirs_;
  am::Context context_;
  am::Bundle bundle_;
  am::Endpoint endpoint_;
  am::Index peer_;
  ViNic vi_nic_;
  ViWriter writer_;
  std::vector<Way> ways_;
  std::uint64_t divisor_ = 1;
  double read_gbs_ = 0;  // of the blocks measured last
  Measurements list_;
  Rounds rounds_;
};

int measure(int argc, char** argv) {
  program::CommandLine app(
      "Measures bandwidth by message size: native VI, Active Messages, Split-C.");
  Options options;
  add_common_options(app, options);
  add_size_option(app, options);
  int exit_code = 0;
  if (!app.read(argc, argv, exit_code, MYPROC == 0)) return exit_code;
  require_provider(options);
  if (PROCS != 2)
    throw Error(std::errc::invalid_argument,
                "bulk measures two ranks; run it as: viaduct-run -n 2 --bind bulk");
  Job& job = splitc::job();
  const Role role = MYPROC == 0 ? Role::sender : Role::peer;
  std::byte* const block = share_block(job, Bulk::block_bytes(), Rank{1});
  require_own_core(job, block, role);
  Bulk bulk(job, block, role, options);
  bulk.run();
  if (role != Role::sender) return 0;
  const BulkReport report = bulk.report();
  report.print(stdout);
  program::write_out();
  if (!options.json_file.empty())
    report.all().write_json(
        options.json_file, machine_facts(job.size(), job.threads_mode() ? "threads" : "processes"));
  return 0;
}

}  // namespace
}  // namespace viaduct::bench

int splitc_main(int argc, char** argv) { return viaduct::bench::measure(argc, argv); }
