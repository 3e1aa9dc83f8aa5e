#include "tests/mixed/side.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <vector>

#include "viaduct/job.hpp"

namespace viaduct::mixed {

using namespace viaduct::splitc;

thread_local Side* side = nullptr;
thread_local Shared* own_shared = nullptr;

/// In each segment: where bulk replies go. Bulk requests go to its begin.
static constexpr std::size_t kBulkAnswers = 2048;

Board::Board() {
  const auto key = all_bcast(static_cast<long>(::getpid()), 0);
  const std::string name = "/viaduct-mixed-" + std::to_string(key);
  constexpr std::size_t kBytes = 4096;
  const int file = ::shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
  void* at = MAP_FAILED;
  if (file >= 0 && ::ftruncate(file, kBytes) == 0)
    at = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) {
    std::perror("cannot map the board");
    std::exit(2);
  }
  ::close(file);
  words_ = static_cast<std::atomic<std::uint64_t>*>(at);
  barrier();
  if (MYPROC == 0) ::shm_unlink(name.c_str());
}

Board::~Board() { ::munmap(words_, 4096); }

void Board::await(int word, std::uint64_t round) const noexcept {
  while (words_[word] < round) {
    const timespec pause{0, 100'000};
    nanosleep(&pause, nullptr);
  }
}
void Board::await_open(std::uint64_t round) const noexcept { await(0, round); }
void Board::await_reply(std::uint64_t round) const noexcept { await(2, round); }

Side::Side()
    : shared(all_malloc<Shared>(1)),
      spare(all_malloc<long>(1)),
      spare_spread(all_spread_malloc<long>(1)),
      context(job()),
      bundle(context),
      endpoint(bundle),
      large(endpoint.max_medium() / sizeof(long)) {
  side = this;
  own_shared = shared;
  endpoint.map_all();
  require(endpoint.set_handler(am::HandlerId{1}, on_raw), "set_handler");
  endpoint.make_segment(4096);
  // Everybody is connected with everybody.
  barrier();
  for (int p = 0; p < PROCS; ++p) require(endpoint.request<on_count>(index(p), 0L), "request");
  for (int p = 0; p < PROCS; ++p) {
    const auto word = toglobal(p, &shared->word);
    (void)fetch_add(word, 0L);
    store(toglobal(p, &shared->stored), 0L);
  }
  all_store_sync();
  require(bundle.wait_until([this] { return counted == PROCS; }), "the first requests");
  barrier();
}

void Side::unmap(int process) {
  require(endpoint.unmap(index(process)), "unmap");
  require(endpoint.map(index(process), {Rank{static_cast<std::uint32_t>(process)}, 0}, am::kTagAll),
          "map");
}

void Side::require(bool right, const char* what) const {
  if (right) return;
  std::printf("process %d, round %lu, %s against %s: %s is wrong\n", MYPROC, round, wait_name,
              served_name, what);
  std::fflush(stdout);
  std::_Exit(1);
}

/// By global pointers, as a handler may.
static void note_handler() {
  const auto mine = toglobal(MYPROC, &side->shared->by_handler);
  write(mine, read(mine) + 1);
}

void on_ask(am::Token& token, long value) {
  note_handler();
  token.reply<on_answer>(2 * value);
}
void on_ask_medium(am::Token& token, std::span<const long> values) {
  note_handler();
  (void)token.reply_medium<on_medium_answer>(values);
}
void on_ask_bulk(am::Token& token, std::span<long> values) {
  note_handler();
  token.reply<on_answer>(std::accumulate(values.begin(), values.end(), 0L));
}
void on_answer(am::Token&, long value) {
  side->last_reply = value;
  ++side->replies;
}
void on_medium_answer(am::Token&, std::span<const long> values) {
  side->last_reply = std::accumulate(values.begin(), values.end(), 0L);
  ++side->replies;
}
void on_release(am::Token&, std::uint64_t round) { side->released = round; }
void on_count(am::Token&, long by) { side->counted += by == 0 ? 1 : by; }
void on_count_medium(am::Token&, std::span<const long> values) {
  side->counted += static_cast<long>(values.size());
}
void on_count_bulk(am::Token&, std::span<long> values) {
  side->counted += static_cast<long>(values.size());
}
void on_got(am::Token&, std::span<long> values) {
  side->counted += static_cast<long>(values.size());
}
void on_raw(am::Token&, const am::Arrival&) { ++side->counted; }
void on_ask_for_bulk(am::Token& token, long value) {
  std::vector<long> values(Shared::kBlock, value);
  (void)token.reply_bulk<on_bulk_answer>(std::span(values), kBulkAnswers);
}
void on_bulk_answer(am::Token&, std::span<long> values) {
  side->last_reply = std::accumulate(values.begin(), values.end(), 0L);
  ++side->replies;
}
void on_ask_for_large(am::Token& token) {
  (void)token.reply_medium<on_large_answer>(std::span<const long>(side->large));
  ++side->large_replies;
}
void on_large_answer(am::Token&, std::span<const long>) {}
void on_ask_in_wait(am::Token& token, std::uint64_t round) {
  token.reply<on_answer_in_wait>(round);
  side->asked = round;
}
void on_answer_in_wait(am::Token&, std::uint64_t round) { side->board.note_reply(round); }
long on_twice(am::Token&, long value) {
  note_handler();
  return 2 * value;
}
long on_sum(am::Token&, std::span<const long> values) {
  note_handler();
  return std::accumulate(values.begin(), values.end(), 0L);
}

bool is_released() { return side->released == side->round; }
void release_message(int waiter) {
  side->require(side->endpoint.request<on_release>(side->index(waiter), side->round), "release");
}

}  // namespace viaduct::mixed
