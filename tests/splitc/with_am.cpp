/// @file
/// Active Messages and Split-C in one program: handlers of messages and operations of Split-C work
/// on the same memory at the same time, and neither loses anything.
///
///     viaduct-run -n 4 splitc_with_am [ROUNDS]

#include <cstdio>
#include <cstdlib>

#include "tests/splitc/model_values.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/splitc.hpp"

namespace {

using namespace viaduct::splitc;
namespace am = viaduct::am;
using viaduct::splitc_test::Random;

/// What a process has for the others. Handlers change the first two; Split-C changes the others.
/// The first one is changed by both at the same time, always by fetch_add.
struct Board {
  long by_request = 0;
  long by_reply = 0;
  long by_fetch_add = 0;
  long by_function = 0;
  long by_lock = 0;
  lock_t lock;
};

thread_local Board* t_board = nullptr;

void on_reply(am::Token&, long by) { t_board->by_reply += by; }
void on_request(am::Token& token, long by) {
  (void)fetch_add(toglobal(MYPROC, &t_board->by_request), by);
  (void)token.reply<on_reply>(2 * by);
}
void add_by_function(long by) { t_board->by_function += by; }

/// What one process does in all its rounds; drawn again by the others to know what to expect.
struct Step {
  int target;
  int what;
  long by;
};
Step draw(Random& random) {
  return {static_cast<int>(random.below(static_cast<std::uint64_t>(PROCS))),
          static_cast<int>(random.below(6)), static_cast<long>(random.below(1000))};
}

class Program {
 public:
  Program() : board_(all_malloc<Board>(1)), context_(job()), bundle_(context_), endpoint_(bundle_) {
    t_board = board_;
    endpoint_.map_all();
    barrier();
  }

  /// Some processes are in one layer while others are in the other.
  void run(std::uint64_t seed, int rounds) {
    Random random(seed + static_cast<std::uint64_t>(MYPROC));
    for (int round = 0; round < rounds; ++round) {
      long replies = board_->by_reply;
      for (int i = 0; i < kRequests; ++i) {
        const Step step = draw(random);
        replies += 2 * step.by;
        request(step);
      }
      require(bundle_.wait_until([&] { return board_->by_reply == replies; }));
      for (int i = 0; i < kOperations; ++i) operate(draw(random));
      splitc::sync();
      barrier();
    }
  }

  bool is_right(std::uint64_t seed, int rounds) const {
    Board wanted;
    for (int process = 0; process < PROCS; ++process) {
      Random random(seed + static_cast<std::uint64_t>(process));
      for (int i = 0; i < rounds * (kRequests + kOperations); ++i)
        expect(wanted, process, i % (kRequests + kOperations) < kRequests, draw(random));
    }
    const Board& b = *board_;
    const bool right = b.by_request == wanted.by_request && b.by_reply == wanted.by_reply &&
                       b.by_fetch_add == wanted.by_fetch_add &&
                       b.by_function == wanted.by_function && b.by_lock == wanted.by_lock;
    if (!right)
      std::printf("process %d, seed %lu: %ld %ld %ld %ld %ld, wanted %ld %ld %ld %ld %ld\n", MYPROC,
                  seed, b.by_request, b.by_reply, b.by_fetch_add, b.by_function, b.by_lock,
                  wanted.by_request, wanted.by_reply, wanted.by_fetch_add, wanted.by_function,
                  wanted.by_lock);
    return right;
  }

 private:
  static constexpr int kRequests = 20;
  static constexpr int kOperations = 20;

  static void require(viaduct::Status status) {
    if (status == viaduct::Status::ok) return;
    std::printf("process %d: Active Messages answer %d\n", MYPROC, static_cast<int>(status));
    std::exit(2);
  }

  void request(const Step& step) {
    const auto to = am::Index{static_cast<std::uint32_t>(step.target)};
    require(endpoint_.request<on_request>(to, step.by));
  }

  void operate(const Step& step) {
    const auto board = toglobal(step.target, board_);
    switch (step.what) {
      case 0:
        (void)fetch_add(board.field(&Board::by_request), step.by);
        return;
      case 1:
      case 2:
        (void)fetch_add(board.field(&Board::by_fetch_add), step.by);
        return;
      case 3:
        atomic<add_by_function>(step.target, step.by);
        return;
      default: {
        const auto l = board.field(&Board::lock);
        const auto sum = board.field(&Board::by_lock);
        lock(l);
        write(sum, read(sum) + step.by);
        unlock(l);
        return;
      }
    }
  }

  static void expect(Board& mine, int process, bool is_request, const Step& step) {
    if (is_request && process == MYPROC) mine.by_reply += 2 * step.by;
    if (step.target != MYPROC) return;
    if (is_request || step.what == 0)
      mine.by_request += step.by;
    else if (step.what <= 2)
      mine.by_fetch_add += step.by;
    else if (step.what == 3)
      mine.by_function += step.by;
    else
      mine.by_lock += step.by;
  }

  Board* board_;
  am::Context context_;
  am::Bundle bundle_;
  am::Endpoint endpoint_;
};

}  // namespace

int splitc_main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
  const std::uint64_t seed = all_bcast(static_cast<std::uint64_t>(get_seconds() * 1e9), PROCS - 1);
  Program program;
  program.run(seed, rounds);
  const bool right = program.is_right(seed, rounds);
  return all_reduce_and(right ? 1 : 0) == 1 ? 0 : 1;
}
