/// @file
/// A static constructor starts a thread that cannot be held, so that static data stays private: it
/// is still reached, by messages, and the program is told once.

#include <atomic>
#include <csignal>
#include <thread>

#include "viaduct/splitc.hpp"

namespace {

using namespace viaduct::splitc;

class Idle {
 public:
  Idle() {
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    pthread_sigmask(SIG_BLOCK, &urgent, nullptr);
    thread_ = std::thread([this] { over_.wait(false); });
    pthread_sigmask(SIG_UNBLOCK, &urgent, nullptr);
  }
  ~Idle() {
    over_ = true;
    over_.notify_all();
    thread_.join();
  }
  Idle(const Idle&) = delete;
  Idle& operator=(const Idle&) = delete;

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};
const Idle g_idle;

int g_number = 0;

}  // namespace

int splitc_main(int argc, char**) {
  g_number = 100 + MYPROC;
  barrier();
  const int next = (MYPROC + 1) % PROCS;
  bool right = true;
  if (argc == 1)
    for (int i = 0; i < 10; ++i) right = right && read(toglobal(next, &g_number)) == 100 + next;
  barrier();
  return right ? 0 : 1;
}
