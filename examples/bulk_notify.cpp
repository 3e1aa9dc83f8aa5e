// Blocks of data go straight into the next rank's memory; a handler there is told when each is
// complete.
//
//     viaduct-run -n 2 build/release/examples/bulk_notify     [BLOCKS [BYTES]]
//
// Every rank sends to the next one in a ring. The receiver's segment holds two blocks: while one is
// being checked, the other is being filled. Its handler notes which block has come; its main loop
// checks the block and frees the place. A bulk request says where its data go, so that the receiver
// posts nothing and copies nothing.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include <viaduct/am.hpp>
#include <viaduct/job.hpp>
#include <viaduct/runtime/clock.hpp>

namespace am = viaduct::am;

namespace {

constexpr int kPlaces = 2;

// Ranks may be threads, so each has its own.
thread_local bool filled[kPlaces] = {};  // as receiver: a block waits to be checked here
thread_local bool free_there[kPlaces] = {
    true, true};  // as sender: the place at the next rank may be written
thread_local std::uint64_t number_of[kPlaces] = {};

void on_filled(am::Token&, std::span<std::uint64_t>, int place, std::uint64_t number) {
  filled[place] = true;  // the data are all in place, and stay until we give the place back
  number_of[place] = number;
}
void on_free(am::Token&, int place) { free_there[place] = true; }

std::uint64_t word_of(std::uint64_t rank, std::uint64_t number, std::uint64_t i) {
  return (rank << 48) + (number << 24) + i;
}

std::uint64_t wrong_words(std::span<const std::uint64_t> data, std::uint64_t rank,
                          std::uint64_t number) {
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < data.size(); ++i)
    if (data[i] != word_of(rank, number, i)) ++wrong;
  return wrong;
}

void report(std::uint32_t rank, std::uint64_t wrong, std::uint64_t blocks, std::size_t bytes,
            std::uint64_t elapsed_ns) {
  if (wrong != 0)
    std::fprintf(stderr, "bulk_notify: rank %u found %llu words wrong\n", rank,
                 static_cast<unsigned long long>(wrong));
  if (rank != 0) return;
  std::printf(
      "%llu blocks of %zu bytes from rank to rank, filled, sent and checked: %.2f GB/s each way\n",
      static_cast<unsigned long long>(blocks), bytes,
      static_cast<double>(blocks * bytes) / static_cast<double>(elapsed_ns));
}

int give_up(const viaduct::Job& job) {
  std::fprintf(stderr, "bulk_notify: rank %u gives up, since another rank is lost\n",
               index(job.rank()));
  return 1;
}

int body(viaduct::Job& job, int argc, char** argv) {
  const int block_count = argc > 1 ? std::atoi(argv[1]) : 64;
  const int block_bytes = argc > 2 ? std::atoi(argv[2]) : 1 << 20;
  if (block_count <= 0 || block_bytes < 8) {
    std::fprintf(stderr, "bulk_notify: BLOCKS must be 1 or more, BYTES 8 or more\n");
    return 2;
  }
  const auto blocks = static_cast<std::uint64_t>(block_count);
  const std::size_t words = static_cast<std::size_t>(block_bytes) / 8;
  const std::uint32_t me = index(job.rank());
  const std::uint32_t previous = (me + job.size() - 1) % job.size();
  const am::Index next{(me + 1) % job.size()};

  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  const std::span<std::byte> segment = endpoint.make_segment(kPlaces * words * 8);
  const auto* memory = reinterpret_cast<const std::uint64_t*>(segment.data());
  // From here on all ranks have a segment.
  if (bundle.barrier() != viaduct::Status::ok) return give_up(job);

  std::vector<std::uint64_t> block(words);
  std::uint64_t sent = 0;
  std::uint64_t checked = 0;
  std::uint64_t wrong = 0;
  const std::uint64_t start = viaduct::monotonic_ns();
  while (sent < blocks || checked < blocks) {
    const auto to_check = static_cast<int>(checked % kPlaces);
    const auto to_fill = static_cast<int>(sent % kPlaces);
    if (filled[to_check]) {
      filled[to_check] = false;
      const std::uint64_t* data = memory + static_cast<std::size_t>(to_check) * words;
      if (number_of[to_check] != checked) ++wrong;
      wrong += wrong_words({data, words}, previous, checked);
      ++checked;
      if (endpoint.request<on_free>(am::Index{previous}, to_check) != viaduct::Status::ok)
        return give_up(job);
    } else if (sent < blocks && free_there[to_fill]) {
      free_there[to_fill] = false;
      for (std::size_t i = 0; i < words; ++i) block[i] = word_of(me, sent, i);
      const std::size_t offset = static_cast<std::size_t>(to_fill) * words * 8;
      // The block may be filled again as soon as the call has returned.
      if (endpoint.request_bulk<on_filled>(next, std::span(block), offset, to_fill, sent) !=
          viaduct::Status::ok)
        return give_up(job);
      ++sent;
    } else {
      // A block or a place will come, unless a rank is lost: a wait does not end by that alone.
      (void)bundle.wait_until([&] {
        return filled[to_check] || (sent < blocks && free_there[to_fill]) || job.life_epoch() != 0;
      });
      if (job.life_epoch() != 0) return give_up(job);
    }
  }
  const std::uint64_t elapsed = viaduct::monotonic_ns() - start;
  if (bundle.barrier() != viaduct::Status::ok) return give_up(job);
  report(me, wrong, blocks, words * 8, elapsed);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
