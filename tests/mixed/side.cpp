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

void Board::await_open(std::uint64_t round) const noexcept {
  while (!is_open(round)) {
    const timespec pause{0, 100'000};
    nanosleep(&pause, nullptr);
  }
}

Side::Side() : shared(all_malloc<Shared>(1)), context(job()), bundle(context), endpoint(bundle) {
  side = this;
  endpoint.map_all();
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

}  // namespace viaduct::mixed
