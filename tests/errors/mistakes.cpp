/// @file
/// Mistakes that newcomers make in C++, one in each function. A comment before it says which, and
/// with how many ranks it is run, if not with 2; another one marks the line. mistakes.py runs each
/// and compares the answers with docs/errors.md.
///
///     viaduct-run -n 2 errors_mistakes NAME

#include <unistd.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"

namespace {

using namespace viaduct;

/// What each of these programs begins with.
struct Messages {
  explicit Messages(Job& job) : context(job), bundle(context), endpoint(bundle) {}
  am::Context context;
  am::Bundle bundle;
  am::Endpoint endpoint;
};

/// Rank 0 sends to rank 1, which serves it.
template <class Send>
void meet(Messages& m, Send&& send) {
  if (m.bundle.job().rank() == Rank{0}) send(am::Index{1});
  (void)m.bundle.barrier();
}

void on_number(am::Token&, int) {}
void on_numbers(am::Token&, std::span<const int>) {}
void on_block(am::Token&, std::span<int>) {}

// Mistake: a second Job, in a function that needs one
// Ranks: 1
void second_job(Job&) {
  const Job mine;  // here
}

// Mistake: the memory of a rank that the job does not have
void rank_beyond(Job& job) {
  (void)job.window_of(Rank{2});  // here
}

// Mistake: the same in a program that was started without viaduct-run
// Ranks: 0
void rank_without_launcher(Job& job) {
  (void)job.window_of(Rank{1});  // here
}

// Mistake: `map_all` is forgotten
void no_map(Job& job) {
  Messages m(job);
  meet(m, [&](am::Index next) {
    (void)m.endpoint.request<on_number>(next, 1);  // here
  });
}

// Mistake: a message to a rank that the job does not have
void index_beyond_job(Job& job) {
  Messages m(job);
  m.endpoint.map_all();
  meet(m, [&](am::Index next) {
    (void)m.endpoint.request<on_number>(am::Index{value(next) + 1}, 1);  // here
  });
}

// Mistake: an index beyond the translation table, and the answer is not looked at
void index_beyond_table(Job& job) {
  Messages m(job);
  m.endpoint.map_all();
  meet(m, [&](am::Index) {
    (void)m.endpoint.request<on_number>(am::Index{5000}, 1);  // here
  });
}

// Mistake: more data than a medium message may have
void medium_too_long(Job& job) {
  Messages m(job);
  m.endpoint.map_all();
  std::vector<int> numbers(10'000);
  meet(m, [&](am::Index next) {
    (void)m.endpoint.request_medium<on_numbers>(next, numbers);  // here
  });
}

// Mistake: bulk data for an endpoint that has no segment
void no_segment(Job& job) {
  Messages m(job);
  m.endpoint.map_all();
  std::vector<int> numbers(100);
  meet(m, [&](am::Index next) {
    (void)m.endpoint.request_bulk<on_block>(next, numbers, 0);  // here
  });
}

// Mistake: bulk data that reach beyond the end of the segment
void beyond_segment(Job& job) {
  Messages m(job);
  m.endpoint.map_all();
  (void)m.endpoint.make_segment(256);
  std::vector<int> numbers(100);
  (void)m.bundle.barrier();
  meet(m, [&](am::Index next) {
    (void)m.endpoint.request_bulk<on_block>(next, numbers, 0);  // here
  });
}

am::Endpoint* t_endpoint = nullptr;
void on_forward(am::Token&, int number) {
  (void)t_endpoint->request<on_number>(am::Index{0}, number);  // here
}
// Mistake: a handler sends a request
void request_in_handler(Job& job) {
  Messages m(job);
  m.endpoint.map_all();
  t_endpoint = &m.endpoint;
  meet(m, [&](am::Index next) { (void)m.endpoint.request<on_forward>(next, 1); });
}

void on_asked_twice(am::Token& token) {
  token.reply<on_number>(1);
  token.reply<on_number>(2);  // here
}
// Mistake: a handler replies twice
void reply_twice(Job& job) {
  Messages m(job);
  m.endpoint.map_all();
  meet(m, [&](am::Index next) { (void)m.endpoint.request<on_asked_twice>(next); });
}

void on_count(am::Token& token) {
  ++token.state<int>();  // here
}
// Mistake: a handler uses the endpoint's object, which it was not given
void no_state(Job& job) {
  Messages m(job);
  m.endpoint.map_all();
  meet(m, [&](am::Index next) { (void)m.endpoint.request<on_count>(next); });
}

int look_up(am::Token&, int key) { return 2 * key; }
// Mistake: the result of a call that has failed is used
void result_of_failed_call(Job& job) {
  Messages m(job);
  meet(m, [&](am::Index next) {
    auto answer = m.endpoint.call<look_up>(next, 21);
    (void)answer.wait().value();  // here
  });
}

// Mistake: an index that is mapped already, when all are mapped
void mapped_twice(Job& job) {
  Messages m(job);
  if (m.endpoint.map(am::Index{1}, {Rank{1}, 0}, am::kTagAll) != Status::ok) return;
  m.endpoint.map_all();  // here
}

// Mistake: the program's body throws
void throws(Job&) {
  throw std::runtime_error("cannot read input.txt");  // here
}

const std::pair<std::string_view, void (*)(Job&)> kMistakes[] = {
    {"second_job", second_job},
    {"rank_beyond", rank_beyond},
    {"rank_without_launcher", rank_without_launcher},
    {"no_map", no_map},
    {"index_beyond_job", index_beyond_job},
    {"index_beyond_table", index_beyond_table},
    {"medium_too_long", medium_too_long},
    {"no_segment", no_segment},
    {"beyond_segment", beyond_segment},
    {"request_in_handler", request_in_handler},
    {"reply_twice", reply_twice},
    {"no_state", no_state},
    {"result_of_failed_call", result_of_failed_call},
    {"mapped_twice", mapped_twice},
    {"throws", throws},
};

int body(Job& job, int argc, char** argv) {
  for (const auto& [name, act] : kMistakes)
    if (argc > 1 && name == argv[1]) act(job);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
