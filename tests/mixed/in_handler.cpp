/// @file
/// What a handler of Active Messages does with Split-C: mapped memory works; what would wait stops
/// the program. What a function that atomic() runs does with Active Messages stops the program.
///
///     viaduct-run -n 2 mixed_in_handler [read | write | lock | atomic | spread_free | sync |
///     mapped] viaduct-run -n 2 mixed_in_handler function [none | request | try_request | call |
///     poll | wait | barrier]

#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>
#include <utility>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/splitc.hpp"

namespace {

using namespace viaduct;
using namespace viaduct::splitc;

struct Words {
  long word = 0;
  lock_t lock;
};
thread_local Words* t_words = nullptr;
thread_local spread_ptr<long> t_array;  // process 1 frees it, which process 0 has allocated
thread_local std::string_view t_how;
thread_local bool t_answered = false;

void nothing() {}

void on_done(am::Token&) { t_answered = true; }
void on_try(am::Token& token) {
  const int other = (MYPROC + 1) % PROCS;
  const auto word = toglobal(other, &t_words->word);
  if (t_how == "mapped") {
    write(word, read(word) + 1);
    (void)fetch_add(word, 1L);
  }
  if (t_how == "read") (void)read(word);
  if (t_how == "write") write(word, 1L);
  if (t_how == "lock") lock(toglobal(other, &t_words->lock));
  if (t_how == "atomic") atomic<nothing>(other);
  if (t_how == "spread_free") spread_free(t_array);
  if (t_how == "sync") {
    put(word, 1L);
    splitc::sync();
  }
  token.reply<on_done>();
}

// Of the process that runs the function.
thread_local am::Bundle* t_bundle = nullptr;
thread_local am::Endpoint* t_endpoint = nullptr;
thread_local bool t_in_function = false;
thread_local int t_ran_in_function = 0;

void on_note(am::Token&) { t_ran_in_function += t_in_function ? 1 : 0; }
int squared(am::Token&, int x) { return x * x; }

int communicates() {
  t_in_function = true;
  const am::Index to{static_cast<std::uint32_t>(MYPROC == 0 ? 1 : 0)};
  if (t_how == "request") (void)t_endpoint->request<on_note>(to);
  if (t_how == "try_request") (void)t_endpoint->try_request<on_note>(to);
  if (t_how == "call") (void)t_endpoint->call<squared>(to, 5).wait();
  if (t_how == "poll") (void)t_bundle->poll();
  if (t_how == "wait") (void)t_bundle->wait(0);
  if (t_how == "barrier") (void)t_bundle->barrier();
  t_in_function = false;
  return t_ran_in_function;
}

/// The function runs in a wait of Active Messages, in one of Split-C, or in the caller itself;
/// before and after it everything works.
int call_functions(am::Bundle& bundle, am::Endpoint& endpoint) {
  t_bundle = &bundle;
  t_endpoint = &endpoint;
  const std::string_view how = std::exchange(t_how, "");
  const am::Index next{static_cast<std::uint32_t>((MYPROC + 1) % PROCS)};
  int ran = 0;
  for (int i = 0; i < 100; ++i) {
    (void)endpoint.request<on_note>(next);
    ran += atomic<communicates>(i % PROCS);
    if (*endpoint.call<squared>(next, i).wait() != i * i) ran = 1;
  }
  (void)bundle.barrier();
  t_how = how;
  barrier();
  if (MYPROC == 0) ran += atomic<communicates>(how == "call" ? 0 : 1);
  (void)bundle.barrier();
  return ran;
}

}  // namespace

int splitc_main(int argc, char** argv) {
  t_how = argc > 1 ? argv[argc - 1] : "";
  t_words = all_malloc<Words>(1);
  t_array = all_bcast(MYPROC == 0 ? spread_malloc<long>(2) : spread_ptr<long>(), 0);
  am::Context context(job());
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  endpoint.set_undeliverable_handler([](const am::Returned&) {});  // another sentence is looked for
  // Both are connected in both models.
  const int other = (MYPROC + 1) % PROCS;
  (void)fetch_add(toglobal(other, &t_words->word), 0L);
  barrier();
  if (argc > 2) return call_functions(bundle, endpoint);
  if (MYPROC == 0) {
    (void)endpoint.request<on_try>(am::Index{1});
    // Process 0 does not poll where the handler is to be stopped: served at once, the handler's put
    // would leave nothing to wait for. The launcher ends process 0.
    if (t_how != "mapped") std::this_thread::sleep_for(std::chrono::seconds(20));
    (void)bundle.wait_until([] { return t_answered; }, 50'000'000'000);
  }
  barrier();
  if (t_how == "mapped" && MYPROC == 0 && t_words->word != 2) return 1;
  return 0;
}
