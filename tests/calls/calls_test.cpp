/// @file
/// Calls that answer: words, structures, nothing and data of any length; waits, then, tasks;
/// futures that move and end; errors as values. Every rank calls every rank, itself included.

#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
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

/// What handlers reach without a thread_local variable.
struct Shop {
  std::uint64_t rank = 0;
  std::uint64_t visits = 0;
  std::vector<int> stock;
};
struct Wide {
  std::uint64_t words[7];
};
struct Large {
  std::uint64_t words[16];
};

std::uint64_t visit(am::Token& token, std::uint64_t key) {
  Shop& shop = token.state<Shop>();
  ++shop.visits;
  return shop.rank * 1000 + key;
}
Wide widen(am::Token&, std::uint32_t a, Wide w) {
  for (auto& word : w.words) word += a;
  return w;
}
Large enlarge(am::Token&, Large in) {
  for (auto& word : in.words) ++word;
  return in;
}
char tiny(am::Token&, char c) noexcept { return static_cast<char>(c + 1); }
void only_visit(am::Token& token) { ++token.state<Shop>().visits; }
std::span<const int> stock(am::Token& token, std::size_t from) {
  return std::span<const int>(token.state<Shop>().stock).subspan(from);
}
std::vector<double> doubled(am::Token&, std::span<const double> data, double by) {
  std::vector<double> result(data.begin(), data.end());
  for (double& d : result) d *= by;
  return result;
}
std::uint64_t sum(am::Token&, std::span<const std::uint32_t> data, std::uint64_t start) {
  return std::accumulate(data.begin(), data.end(), start);
}
void refuse(am::Token& token) { token.send_back(am::Undeliverable::bad_handler, {}, 0); }
std::uint64_t refuse_number(am::Token& token) {
  refuse(token);
  return 7;
}
Large refuse_large(am::Token& token) {
  refuse(token);
  return {};
}
std::vector<int> refuse_data(am::Token& token) {
  refuse(token);
  return {1, 2};
}
std::array<int, 100> long_array(am::Token&, int first) {
  std::array<int, 100> values;
  std::iota(values.begin(), values.end(), first);
  return values;
}
std::vector<std::byte> too_much(am::Token& token) {
  return std::vector<std::byte>(token.endpoint().max_medium() + 1);
}

struct World {
  viaduct::Job& job;
  am::Bundle& bundle;
  am::Endpoint& endpoint;
  Shop& shop;
};

void test_values(World& w, am::Index to) {
  CHECK(*w.endpoint.call<visit>(to, std::uint64_t{7}).wait() == value(to) * 1000 + 7);
  CHECK(*w.endpoint.call<visit>(to, 8).wait() == value(to) * 1000 + 8);
  CHECK(*w.endpoint.call<tiny>(to, 'a').wait() == 'b');
  const auto wide = w.endpoint.call<widen>(to, 10, Wide{{1, 2, 3, 4, 5, 6, 7}}).wait();
  CHECK(wide && wide->words[0] == 11 && wide->words[6] == 17);
  Large large{};
  large.words[15] = 99;
  const auto larger = w.endpoint.call<enlarge>(to, large).wait();
  CHECK(larger && larger->words[0] == 1 && larger->words[15] == 100);
  CHECK(w.endpoint.call<only_visit>(to).wait().has_value());
  CHECK(*w.endpoint.call<[](am::Token&, int x, int y) { return x * y; }>(to, 6, 7).wait() == 42);
}

void test_data(World& w, am::Index to) {
  std::array<int, 100> room{};
  const auto some = w.endpoint.call<stock>(to, room, std::size_t{10}).wait();
  CHECK(some && some->size() == 90 && some->data() == room.data() && (*some)[0] == 10 &&
        (*some)[89] == 99);
  const auto none = w.endpoint.call<stock>(to, room, std::size_t{100}).wait();
  CHECK(none && none->empty());
  const std::vector<double> given{1, 2, 3};
  std::vector<double> back(3);
  CHECK(w.endpoint.call<doubled>(to, given, back, 2.5).wait().has_value() && back[2] == 7.5);
  const std::uint32_t numbers[] = {1, 2, 3, 4};
  CHECK(*w.endpoint.call<sum>(to, numbers, std::uint64_t{5}).wait() == 15);

  std::array<int, 10> small{};
  const auto longer = w.endpoint.call<stock>(to, small, std::size_t{0}).wait();
  CHECK(!longer && longer.error() == am::Undeliverable::bad_length);
  std::vector<std::byte> bytes(2 * w.endpoint.max_medium());
  CHECK(w.endpoint.call<too_much>(to, bytes).wait().error() == am::Undeliverable::bad_length);
  std::array<int, 100> values{};
  const auto array = w.endpoint.call<long_array>(to, values, 5).wait();
  CHECK(array && array->size() == 100 && values[0] == 5 && values[99] == 104);
  const std::span<int> null(static_cast<int*>(nullptr), 90);
  CHECK(w.endpoint.call<stock>(to, null, std::size_t{10}).wait().error() ==
        am::Undeliverable::bad_length);
  const std::vector<std::uint32_t> many(w.endpoint.max_medium());
  CHECK(w.endpoint.call<sum>(to, many, std::uint64_t{0}).wait().error() ==
        am::Undeliverable::bad_length);
  CHECK(*w.endpoint.call<visit>(to, 1).wait() == value(to) * 1000 + 1);  // goes on
}

/// Handlers that send their calls back: the calls fail, and no value follows.
void test_sent_back(World& w, am::Index to) {
  std::array<int, 2> room{};
  for (int i = 0; i < 20; ++i) {  // more than credits, which come back
    CHECK(w.endpoint.call<refuse>(to).wait().error() == am::Undeliverable::bad_handler);
    CHECK(w.endpoint.call<refuse_number>(to).wait().error() == am::Undeliverable::bad_handler);
    CHECK(w.endpoint.call<refuse_large>(to).wait().error() == am::Undeliverable::bad_handler);
    CHECK(w.endpoint.call<refuse_data>(to, room).wait().error() == am::Undeliverable::bad_handler);
  }
  CHECK(*w.endpoint.call<visit>(to, 1).wait() == value(to) * 1000 + 1);
}

/// Many under way, waited for in another order, moved, told and left.
void test_futures(World& w, am::Index to) {
  constexpr std::uint64_t kMany = 300;  // more than credits and than a CallRing has
  std::vector<am::Future<std::uint64_t>> futures;
  for (std::uint64_t i = 0; i < kMany; ++i) futures.push_back(w.endpoint.call<visit>(to, i));
  for (std::uint64_t i = kMany; i-- > 0;)
    CHECK(*futures[i].wait() == value(to) * 1000 + i && futures[i].ready());

  std::vector<std::uint64_t> told;
  {
    std::optional<am::Future<std::uint64_t>> left(w.endpoint.call<visit>(to, 1));
    auto first = w.endpoint.call<visit>(to, 2);
    auto then = w.endpoint.call<visit>(to, 3).then(
        [&](am::Result<std::uint64_t> r) { told.push_back(r.value_or(0)); });
    auto moved = std::move(then);
    left.reset();
    auto second = std::move(first);
    first = w.endpoint.call<visit>(to, 4);
    CHECK(*moved.wait() == value(to) * 1000 + 3);
    CHECK(*second.wait() == value(to) * 1000 + 2 && *first.wait() == value(to) * 1000 + 4);
    CHECK(second.wait_for(0) == Status::ok);
  }
  CHECK(told == std::vector<std::uint64_t>{value(to) * 1000 + 3});
  {
    auto ready = w.endpoint.call<visit>(to, 5);
    ready.wait();
    const auto late =
        std::move(ready).then([&](am::Result<std::uint64_t> r) { told.push_back(r.value_or(0)); });
    CHECK(told.size() == 2 && late.ready());
  }
  {  // moved when the answer is here
    auto ready = w.endpoint.call<visit>(to, 7);
    ready.wait();
    auto moved = std::move(ready);
    CHECK(*std::move(moved).wait() == value(to) * 1000 + 7);
    auto again = w.endpoint.call<visit>(to, 8);
    again.wait();
    auto then = std::move(again).then([](am::Result<std::uint64_t>) {});
    CHECK(*std::move(then).wait() == value(to) * 1000 + 8);
  }
  for (int i = 0; i < 200; ++i) (void)w.endpoint.call<visit>(to, 6);  // nobody wants the answers
  CHECK(*w.endpoint.call<visit>(to, 9).wait() == value(to) * 1000 + 9);
}

am::Task visit_often(World& w, am::Index to, std::uint64_t times, std::uint64_t& total) {
  std::array<int, 100> room;
  for (std::uint64_t i = 0; i < times; ++i) {
    const auto answer = co_await w.endpoint.call<visit>(to, i);
    total += answer.value_or(1'000'000) - value(to) * 1000;
    auto future = w.endpoint.call<stock>(to, room, std::size_t{99});
    const auto last = co_await future;
    total += last && last->size() == 1 ? 1 : 1'000'000;
  }
}
am::Task fail() {
  throw 3;
  co_return;
}

void test_tasks(World& w) {
  std::vector<std::uint64_t> totals(20);
  std::vector<am::Task> tasks;
  for (std::uint32_t i = 0; i < totals.size(); ++i)
    tasks.push_back(visit_often(w, am::Index{i % w.job.size()}, i, totals[i]));
  w.bundle.run(tasks);
  for (std::uint64_t i = 0; i < totals.size(); ++i)
    CHECK(tasks[i].is_done() && totals[i] == i * (i - (i == 0 ? 0 : 1)) / 2 + i);
  std::uint64_t total = 0;
  w.bundle.run(visit_often(w, am::Index{0}, 3, total));
  CHECK(total == 6);
  int thrown = 0;
  try {
    w.bundle.run(fail());
  } catch (int what) {
    thrown = what;
  }
  CHECK(thrown == 3);
}

void test_errors(World& w) {
  am::Endpoint outsider(w.bundle, 77);
  CHECK(outsider.map(am::Index{0}, w.endpoint.name(), 5) == Status::ok);  // hears all
  CHECK(outsider.call<visit>(am::Index{0}, 1).wait().has_value());
  CHECK(outsider.call<visit>(am::Index{1}, 1).wait().error() == am::Undeliverable::bad_entry);
  CHECK(outsider.call<visit>(am::Index{99999}, 1).wait().error() == am::Undeliverable::bad_entry);
  am::Endpoint other(w.bundle);
  CHECK(other.map(am::Index{0}, outsider.name(), 5) == Status::ok);
  const auto refused = other.call<only_visit>(am::Index{0}).wait();
  CHECK(refused.error() == am::Undeliverable::bad_tag);

  // The tag changes while calls are under way; none is left without an answer.
  am::Endpoint caller(w.bundle);
  am::Endpoint host(w.bundle, 9);
  Shop shop;
  host.set_state(shop);
  CHECK(caller.map(am::Index{0}, host.name(), 9) == Status::ok);
  CHECK(caller.call<visit>(am::Index{0}, 1).wait().has_value());
  auto before = caller.call<visit>(am::Index{0}, 2);
  host.set_tag(10);
  auto after = caller.call<visit>(am::Index{0}, 3);
  CHECK(before.wait().error() == am::Undeliverable::bad_tag);
  CHECK(after.wait().error() == am::Undeliverable::bad_tag);

  std::optional<am::Endpoint> gone(std::in_place, w.bundle);
  am::Endpoint asks(w.bundle);
  gone->set_state(shop);
  CHECK(asks.map(am::Index{0}, gone->name(), am::kTagAll) == Status::ok);
  CHECK(asks.call<visit>(am::Index{0}, 1).wait().has_value());
  auto pending = asks.call<visit>(am::Index{0}, 2);
  std::vector<am::Undeliverable> told;
  auto then = asks.call<visit>(am::Index{0}, 3).then([&](am::Result<std::uint64_t> r) {
    told.push_back(r.error());
  });
  gone.reset();
  CHECK(pending.wait().error() == am::Undeliverable::bad_endpoint);
  (void)then.wait();
  CHECK(told == std::vector{am::Undeliverable::bad_endpoint});

  std::optional<am::Endpoint> owner(std::in_place, w.bundle);
  CHECK(owner->map(am::Index{0}, w.endpoint.name(), am::kTagAll) == Status::ok);
  (void)owner->call<visit>(am::Index{0}, 1).wait();
  auto orphan = owner->call<visit>(am::Index{0}, 2);
  owner.reset();
  CHECK(orphan.ready());
}

/// A parallel bundle: threads call and wait at the same time.
void test_threads(World& w) {
  am::Bundle bundle(w.bundle.context(), am::Bundle::Threads::parallel);
  am::Endpoint endpoint(bundle);
  Shop shop;
  shop.rank = 5;
  endpoint.set_state(shop);
  if (endpoint.map(am::Index{0}, endpoint.name(), am::kTagAll) != Status::ok) return CHECK(false);
  std::array<int, 3> bad{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < bad.size(); ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 300; ++i) {
        auto future = endpoint.call<visit>(am::Index{0}, i);
        auto moved = std::move(future);
        if (i % 7 == 0) continue;
        bad[t] += moved.wait().value_or(0) != 5000 + i;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(bad[0] + bad[1] + bad[2] == 0);
}

int body(viaduct::Job& job, int, char**) {
  wrong = 0;
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  Shop shop;
  shop.rank = index(job.rank());
  shop.stock.resize(100);
  std::iota(shop.stock.begin(), shop.stock.end(), 0);
  endpoint.set_state(shop);
  World w{job, bundle, endpoint, shop};
  CHECK(bundle.barrier() == Status::ok);
  for (std::uint32_t r = 0; r < job.size(); ++r) {
    test_values(w, am::Index{r});
    test_data(w, am::Index{r});
    test_sent_back(w, am::Index{r});
    test_futures(w, am::Index{r});
  }
  test_tasks(w);
  CHECK(bundle.barrier() == Status::ok);
  test_errors(w);
  if (job.size() <= 2) test_threads(w);
  CHECK(bundle.barrier() == Status::ok);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
