// What a request with its reply costs in an AM_PAR bundle, beside an AM_SEQ one: instructions, and
// locked instructions among them. The bundles belong to a process that the test steps through;
// while the parallel one is counted, a second thread of it sleeps.

#include <elf.h>
#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "am/c/am.h"

namespace {

constexpr int kRounds = 128;  // several polls of each 64th turn

// The process that is counted.

int answers = 0;
void on_answer(void*, int value) { answers += value; }
void on_request(void* token, int value) { (void)AM_Reply1(token, 2, value); }

/// A round as programs write it: send, and poll until the answer is here.
[[gnu::noinline]] void rounds(eb_t bundle, ep_t endpoint, int n) {
  answers = 0;
  for (int i = 0; i < n; ++i) {
    if (AM_Request1(endpoint, 0, 1, 1) != AM_OK) ::_exit(1);
    while (answers == i)
      if (AM_Poll(bundle) != AM_OK) ::_exit(1);
  }
}

/// Between two marks the tracer counts.
void mark() { asm volatile("int3" ::: "memory"); }

void count(int kind, int warm_up) {
  eb_t bundle = nullptr;
  ep_t endpoint = nullptr;
  en_t name;
  if (AM_AllocateBundle(kind, &bundle) != AM_OK ||
      AM_AllocateEndpoint(bundle, &endpoint, &name) != AM_OK ||
      AM_SetTag(endpoint, AM_ALL) != AM_OK || AM_Map(endpoint, 0, name, AM_ALL) != AM_OK)
    ::_exit(1);
  AM_SetHandler(endpoint, 1, reinterpret_cast<AM_Handler>(on_request));
  AM_SetHandler(endpoint, 2, reinterpret_cast<AM_Handler>(on_answer));
  rounds(bundle, endpoint, warm_up);
  mark();
  rounds(bundle, endpoint, kRounds);
  mark();
  if (AM_FreeBundle(bundle) != AM_OK) ::_exit(1);
}

void* sleeper(void* unused) {
  for (;;) ::pause();
  return unused;
}

[[noreturn]] void counted() {
  if (AM_Init() != AM_OK) ::_exit(1);
  count(AM_SEQ, 1000);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, sleeper, nullptr) != 0) ::_exit(1);
  count(AM_PAR, 20'000);  // the gate is reserved for a thread that has used it for a while
  ::_exit(0);
}

// The process that counts.

struct Counts {
  double instructions = 0, locked = 0;  // of a round
};

/// Whether the instruction at @p code locks memory: a prefix, or an exchange with memory; or waits
/// for stores as one that does.
bool is_locked(const std::array<unsigned char, 16>& code) {
  std::size_t at = 0;
  for (; at < 14; ++at) {
    const unsigned char byte = code[at];
    if (byte == 0xf0) return true;
    const bool prefix = byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 ||
                        byte == 0x64 || byte == 0x65 || (byte & 0xf0) == 0x40;
    if (!prefix) break;
  }
  if (code[at] == 0x86 || code[at] == 0x87) return code[at + 1] < 0xc0;
  return code[at] == 0x0f && code[at + 1] == 0xae && (code[at + 2] & 0xf8) == 0xf0;
}

/// Ends the test where the child has done so.
void wait_for_trap(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP)
    return;
  std::printf("FAILED: the counted process says %#x\n", status);
  ::kill(child, SIGKILL);
  std::exit(1);
}

/// Counts from here to the next mark, and past it.
Counts between_marks(pid_t child) {
  Counts counts;
  for (;;) {
    user_regs_struct registers{};
    iovec whole{&registers, sizeof registers};
    std::array<unsigned char, 16> code{};
    ::ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &whole);
    const iovec into{code.data(), code.size()};
    const iovec from{reinterpret_cast<void*>(registers.rip), code.size()};
    if (::process_vm_readv(child, &into, 1, &from, 1, 0) < 4) {
      std::puts("SKIPPED: the kernel does not let this process read the other one's memory");
      ::kill(child, SIGKILL);
      std::exit(77);
    }
    const bool at_mark = code[0] == 0xcc;
    if (!at_mark) {
      counts.instructions += 1.0 / kRounds;
      if (is_locked(code)) counts.locked += 1.0 / kRounds;
    }
    ::ptrace(at_mark ? PTRACE_CONT : PTRACE_SINGLESTEP, child, nullptr, nullptr);
    wait_for_trap(child);
    if (at_mark) return counts;
  }
}

Counts next(pid_t child) {
  ::ptrace(PTRACE_CONT, child, nullptr, nullptr);
  wait_for_trap(child);
  return between_marks(child);
}

}  // namespace

int main() {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(77);
    (void)::raise(SIGSTOP);
    counted();
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
    std::puts("SKIPPED: the kernel does not let one process trace another");
    return 77;
  }
  const Counts sequential = next(child);
  const Counts parallel = next(child);
  ::kill(child, SIGKILL);
  std::printf("a request and its reply   instructions   locked\n");
  std::printf("AM_SEQ, one thread        %12.1f   %6.2f\n", sequential.instructions,
              sequential.locked);
  std::printf("AM_PAR, a second sleeps   %12.1f   %6.2f\n", parallel.instructions, parallel.locked);
  const bool cheap = parallel.locked <= sequential.locked + 0.1 &&
                     parallel.instructions <= 1.15 * sequential.instructions;
  if (!cheap) std::puts("FAILED: at most 1.15 times the instructions, and no locked one each time");
  return cheap ? 0 : 1;
}
