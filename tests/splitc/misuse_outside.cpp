/// @file
/// Uses Split-C before splitc_main, after it, or in another thread, as the arguments say, or takes
/// all memory that there is; must not come to its end.
///
///     splitc_misuse_outside before|after|thread|inside OPERATION
///     splitc_misuse_outside child write|store

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <thread>

#include "viaduct/splitc.hpp"

namespace {

using namespace viaduct::splitc;

int g_here = 0;

void nothing() {}

void use(std::string_view how) {
  const auto p = global_ptr<int>::from_word(viaduct::splitc::detail::make_word(0, 0x1000000000));
  if (how == "read") (void)read(p);
  if (how == "write") write(p, 1);
  if (how == "get") get(&g_here, p);
  if (how == "put") put(p, 1);
  if (how == "store") store(p, 1);
  if (how == "store_sync") store_sync(0);
  if (how == "all_store_sync") all_store_sync();
  if (how == "sync") splitc::sync();
  if (how == "barrier") barrier();
  if (how == "poll") poll();
  if (how == "bulk_read") bulk_read(&g_here, p, 1);
  if (how == "bulk_store") bulk_store(p, &g_here, 1);
  if (how == "fetch_add") (void)fetch_add(p, 1);
  if (how == "all_malloc") (void)all_malloc<int>(1);
  if (how == "all_reduce") (void)all_reduce_add(1);
  if (how == "toglobal") (void)toglobal(&g_here);
  if (how == "lock") lock(global_ptr<lock_t>(p));
  if (how == "atomic") atomic<nothing>(0);
}

constexpr std::size_t kPiece = std::size_t{1} << 20;

void exhaust(std::string_view how) {
  while (how == "exhaust_all_malloc") (void)all_malloc<char>(kPiece);
  while (how == "exhaust_all_spread_malloc") (void)all_spread_malloc<char>(kPiece);
  while (how == "exhaust_spread_malloc") (void)spread_malloc<char>(kPiece);
}

constexpr int kSawIt = 21;

/// A child that goes on in the middle of a function with what its parent had in registers.
int write_in_child(std::string_view how) {
  const auto p = toglobal(all_malloc<int>(1));
  write(p, 1);
  const pid_t child = ::fork();
  if (child == 0) {
    if (how == "write") write(p, 2);
    if (how == "store") store(p, 2);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && read(p) == 1 ? kSawIt : 1;
}

int body(int, char** argv) {
  const std::string_view when = argv[1];
  if (when == "child") return write_in_child(argv[2]);
  if (when == "thread") std::thread(use, argv[2]).join();
  if (when == "inside") exhaust(argv[2]);
  return 0;
}

}  // namespace

int splitc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  const std::string_view when = argc > 2 ? argv[1] : "";
  if (when == "before") use(argv[2]);
  const int code = run(body, argc, argv);
  if (code != 0) return code;
  if (when == "after") use(argv[2]);
  std::puts("nothing stopped this process");
  return 3;
}
