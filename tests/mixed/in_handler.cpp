/// @file
/// What a handler of Active Messages does with Split-C: mapped memory works; what would wait stops
/// the program.
///
///     viaduct-run -n 2 mixed_in_handler [read | write | lock | atomic | sync | mapped]

#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>

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
  if (t_how == "sync") {
    put(word, 1L);
    splitc::sync();
  }
  token.reply<on_done>();
}

}  // namespace

int splitc_main(int argc, char** argv) {
  t_how = argc > 1 ? argv[1] : "";
  t_words = all_malloc<Words>(1);
  am::Context context(job());
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  endpoint.set_undeliverable_handler([](const am::Returned&) {});  // another sentence is looked for
  // Both are connected in both models.
  const int other = (MYPROC + 1) % PROCS;
  (void)fetch_add(toglobal(other, &t_words->word), 0L);
  barrier();
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
