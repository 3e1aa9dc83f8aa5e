/// @file
/// Futures, functions of then() and tasks that move or end while their call is pending, or at the
/// moment of its answer. Every rank calls the next one.

#include <malloc.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "tests/calls/check.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/am/task.hpp"
#include "viaduct/job.hpp"

namespace am = viaduct::am;
using viaduct::Status;
using viaduct::calls_test::wrong;

namespace {

using Number = std::uint64_t;
using Answered = am::Result<Number>;

Number twice(am::Token&, Number x) { return 2 * x; }
Number late(am::Token&, Number x) {
  ::usleep(1000);
  return x;
}

struct World {
  am::Bundle& bundle;
  am::Endpoint& endpoint;
  am::Index to;

  [[nodiscard]] am::Future<Number> call(Number x) { return endpoint.call<twice>(to, x); }
};

// Tasks.

am::Task throw_behind_call(World& w) {
  const auto answer = co_await w.call(1);
  throw std::runtime_error(answer ? "thrown" : "no answer");
}
am::Task throw_at_once() {
  throw std::runtime_error("thrown");
  co_return;
}
am::Task call_three_times(World& w, int& done) {
  Number sum = 0;
  for (Number i = 1; i <= 3; ++i) {
    const auto answer = co_await w.call(i);
    sum += answer.value_or(100);
  }
  done += sum == 12 ? 1 : 0;
}
am::Task await_outside(am::Future<Number>& future, std::vector<Answered>& answers) {
  const auto answer = co_await future;
  answers.push_back(answer);
}

/// @return whether run() throws.
[[gnu::noinline]] bool throws(World& w, std::vector<am::Task>& tasks) {
  try {
    w.bundle.run(tasks);
  } catch (const std::runtime_error& error) {
    return std::strcmp(error.what(), "thrown") == 0;
  }
  return false;
}

/// Polls until the calls made so far are answered. @return bytes of this stack frame that a poll
/// has changed: it lies where run() has had its own.
[[gnu::noinline]] std::ptrdiff_t poll_on_used_stack(World& w) {
  volatile unsigned char frame[16384];
  for (volatile unsigned char& byte : frame) byte = 0xab;
  CHECK(*w.call(5).wait() == 10);
  return std::count_if(std::begin(frame), std::end(frame), [](int byte) { return byte != 0xab; });
}

void test_run_that_throws(World& w) {
  int done = 0;
  std::vector<am::Task> tasks;
  tasks.push_back(throw_behind_call(w));
  for (int i = 0; i < 20; ++i) tasks.push_back(call_three_times(w, done));
  CHECK(throws(w, tasks));
  CHECK(poll_on_used_stack(w) == 0);
  CHECK(done == 0 && tasks[0].is_done() && !tasks[1].is_done());
  w.bundle.run(tasks);  // goes on with them
  CHECK(done == 20);

  tasks.clear();
  for (int i = 0; i < 20; ++i) tasks.push_back(call_three_times(w, done));
  tasks.push_back(throw_at_once());
  CHECK(throws(w, tasks));
  tasks.clear();
  CHECK(poll_on_used_stack(w) == 0 && done == 20);
}

void test_task_that_ends(World& w) {
  std::vector<Answered> answers;
  auto waited = w.call(2);
  auto awaited = w.call(3);
  {
    std::vector<am::Task> tasks;
    tasks.push_back(await_outside(waited, answers));
    tasks.push_back(await_outside(awaited, answers));
    tasks.push_back(throw_at_once());
    CHECK(throws(w, tasks));
  }
  CHECK(!waited.ready() && *waited.wait() == 4 && answers.empty());
  w.bundle.run(await_outside(awaited, answers));
  CHECK(answers.size() == 1 && answers[0].value_or(0) == 6 && *awaited.wait() == 6);
}

void test_awaited_future(World& w) {
  std::vector<Answered> answers;
  std::optional<am::Future<Number>> moves(w.call(4));
  std::optional<am::Future<Number>> ends(w.call(5));
  std::vector<am::Task> tasks;
  tasks.push_back(await_outside(*moves, answers));
  tasks.push_back(await_outside(*ends, answers));
  tasks.push_back(throw_at_once());
  CHECK(throws(w, tasks));
  auto moved = std::move(*moves);
  moves.reset();
  ends.reset();
  w.bundle.run(tasks);
  CHECK(answers.size() == 2 && answers[0].error() == am::Undeliverable::reply_rejected &&
        answers[1].value_or(0) == 8 && *moved.wait() == 8);
}

// Then.

using Told = am::Then<Number, std::function<void(Answered)>>;

constexpr std::byte kOther{0x5a};

/// The function ends its Then, and gives the memory to another use.
void test_end_inside(World& w) {
  alignas(Told) std::byte room[sizeof(Told)];
  const auto witness = std::make_shared<Number>(0);
  const auto end = [&room, kept = witness](Answered answer) {
    std::destroy_at(std::launder(reinterpret_cast<Told*>(room)));
    std::fill(std::begin(room), std::end(room), kOther);
    *kept += *answer;  // the function is still there
  };
  new (room) Told(w.call(7).then(std::function<void(Answered)>(end)));
  (void)w.bundle.wait_until([&] { return *witness != 0; });
  CHECK(*witness == 14);
  CHECK(std::all_of(std::begin(room), std::end(room), [](std::byte b) { return b == kOther; }));
}

void test_move_inside(World& w) {
  int told = 0;
  std::optional<Told> first;
  std::optional<Told> second;
  first.emplace(w.call(8).then(std::function<void(Answered)>([&](Answered answer) {
    told += answer.value_or(0) == 16 ? 1 : 100;
    second.emplace(std::move(*first));
    CHECK(!second->ready());
  })));
  (void)w.bundle.wait_until([&] { return told != 0; });
  CHECK(second->ready() && *second->wait() == 16 && told == 1);
}

struct Seen {
  std::atomic<bool> slow = false;
  std::atomic<int> called = 0;
  std::atomic<int> broken = 0;
};
/// Takes its time to move and to end.
class Slow {
 public:
  explicit Slow(Seen& seen) noexcept : seen_(seen), is_whole_(true) {}
  Slow(Slow&& from) noexcept : seen_(from.seen_), is_whole_(false) {
    if (seen_.slow) ::usleep(2000);
    is_whole_ = std::exchange(from.is_whole_, false);
  }
  ~Slow() {
    is_whole_ = false;
    if (seen_.slow) ::usleep(2000);
  }
  void operator()(Answered) const {
    ++seen_.called;
    if (!is_whole_) ++seen_.broken;
  }

 private:
  Seen& seen_;
  volatile bool is_whole_;  // volatile: also written at the end
};

/// Another thread polls while a Then moves or ends.
void test_parallel(World& sequential) {
  constexpr int kTimes = 20;
  am::Bundle bundle(sequential.bundle.context(), am::Bundle::Threads::parallel);
  am::Endpoint endpoint(bundle);
  CHECK(endpoint.map(am::Index{0}, endpoint.name(), am::kTagAll) == Status::ok);
  CHECK(endpoint.call<late>(am::Index{0}, 0).wait().has_value());
  std::atomic<bool> stop = false;
  std::thread polls([&] {
    while (!stop) (void)bundle.poll();
  });
  Seen seen;
  const auto call = [&] { return endpoint.call<late>(am::Index{0}, 1).then(Slow(seen)); };
  for (int i = 0; i < kTimes; ++i) {
    auto then = call();
    seen.slow = true;
    auto moved = std::move(then);
    seen.slow = false;
    CHECK(*moved.wait() == 1);
  }
  CHECK(seen.called == kTimes);
  CHECK(seen.broken == 0);
  for (int i = 0; i < kTimes; ++i) {
    const auto then = call();
    seen.slow = true;
    (void)then;
  }
  seen.slow = false;
  stop = true;
  polls.join();
  CHECK(seen.broken == 0);
}

int body(viaduct::Job& job, int, char**) {
  wrong = 0;
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  World w{bundle, endpoint, am::Index{(index(job.rank()) + 1) % job.size()}};
  CHECK(bundle.barrier() == Status::ok);
  test_run_that_throws(w);
  test_task_that_ends(w);
  test_awaited_future(w);
  test_end_inside(w);
  test_move_inside(w);
  CHECK(bundle.barrier() == Status::ok);
  if (job.size() == 1) test_parallel(w);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  ::mallopt(M_PERTURB, 0xa5);  // memory that is used after its end is seen to be
  return viaduct::run(body, argc, argv);
}
