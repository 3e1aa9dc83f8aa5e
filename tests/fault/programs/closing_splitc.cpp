// Split-C processes that end and communicate in an order that the command line says: one list of
// steps for the last process, one for all others. Every wait of these processes must end.
//
//     closing_splitc STEPS-OF-THE-LAST STEPS-OF-THE-OTHERS      as "barrier,pause,read"
//
// Names of Split-C's calls: those towards a process go to the last one. hold: takes its lock and
// keeps that. pause: a moment. serve: polls for a moment. return: leaves splitc_main, one for
// failure. exit, leave: exit() and _exit(). throw, kill.

#include <unistd.h>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "viaduct/splitc.hpp"

using namespace viaduct::splitc;

namespace {

constexpr int kMany = 40'000;
double g_data[kMany];
long g_count = 0;
lock_t g_lock;

long function_at(int by) { return g_count += by; }

void synchronise(const std::string& step) {
  if (step == "barrier") barrier();
  if (step == "notify") barrier_notify();
  if (step == "wait") barrier_wait();
  if (step == "reduce") (void)all_reduce_add(1);
  if (step == "to-one") (void)all_reduce_to_one_add(1, 0);
  if (step == "bcast") (void)all_bcast(1, PROCS - 1);
  if (step == "stores") all_store_sync();
  if (step == "store_sync") store_sync(100);
  if (step == "sync") viaduct::splitc::sync();
}

void communicate(const std::string& step) {
  static double mine[kMany];
  const int last = PROCS - 1;
  const auto there = toglobal(last, &g_data[0]);
  if (step == "read") (void)read(there);
  if (step == "write") write(there, 1.0);
  if (step == "get") get(&mine[0], there);
  if (step == "put") put(there, 1.0);
  if (step == "store") store(there, 1.0);
  if (step == "bulk_read") bulk_read(mine, there, kMany);
  if (step == "bulk_write") bulk_write(there, mine, kMany);
  if (step == "bulk_get") bulk_get(mine, there, kMany);
  if (step == "bulk_put") bulk_put(there, mine, kMany);
  if (step == "bulk_store") bulk_store(there, mine, kMany);
  if (step == "add") (void)fetch_add(toglobal(last, &g_count), 1L);
  if (step == "atomic") (void)atomic<function_at>(last, 1);
  if (step == "lock") lock(toglobal(last, &g_lock));
  if (step == "unlock") unlock(toglobal(last, &g_lock));
}

void serve() {
  const double until = get_seconds() + 0.06;
  while (get_seconds() < until) poll();
}

}  // namespace

int splitc_main(int, char** argv) {
  std::istringstream steps(argv[MYPROC + 1 == PROCS ? 1 : 2]);
  for (std::string step; std::getline(steps, step, ',');) {
    if (step == "return") return 1;
    if (step == "pause") std::this_thread::sleep_for(std::chrono::milliseconds(60));
    if (step == "serve") serve();
    if (step == "exit") std::exit(0);
    if (step == "leave") ::_exit(0);
    if (step == "throw") throw std::runtime_error("has failed");
    if (step == "kill") ::raise(SIGKILL);
    synchronise(step);
    communicate(step);
  }
  return 0;
}
