// As a library before a program, INJECT=KIND:N arms it, in every process of the program that
// INJECT_PROGRAM names.

#include "tests/fault/set_up/inject.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace inject {
namespace {

std::atomic<int> g_kind{-1};
std::atomic<long> g_left{0};
std::atomic<bool> g_struck{false};
constinit thread_local int t_exempt = 0;

/// Whether this call is to fail.
bool strikes(Kind kind) noexcept {
  if (g_kind.load(std::memory_order_relaxed) != static_cast<int>(kind) || t_exempt != 0)
    return false;
  if (g_left.fetch_sub(1) != 1) return false;
  g_struck.store(true);
  return true;
}

bool refuses(Kind kind, int problem) noexcept {
  if (!strikes(kind)) return false;
  errno = problem;
  return true;
}
bool no_descriptor() noexcept { return refuses(Kind::descriptor, EMFILE); }

/// The C library's own function of this name.
template <class Function>
Function* real(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// Nothing here allocates: the allocator maps memory.
class Ledger {
 public:
  void add(std::uintptr_t begin, std::uintptr_t end) noexcept {
    const std::lock_guard lock(mutex_);
    remove(begin, end);  // MAP_FIXED
    put({begin, end});
  }
  void take(std::uintptr_t begin, std::uintptr_t end) noexcept {
    const std::lock_guard lock(mutex_);
    remove(begin, end);
  }
  std::vector<std::string> list() {
    std::vector<std::string> all;
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < count_; ++i) {
      char text[80];
      std::snprintf(text, sizeof text, "a mapping at %#lx of %lu bytes",
                    static_cast<unsigned long>(ranges_[i].begin),
                    static_cast<unsigned long>(ranges_[i].end - ranges_[i].begin));
      all.emplace_back(text);
    }
    return all;
  }

 private:
  void put(Range range) noexcept {
    if (range.begin >= range.end) return;
    if (count_ == ranges_.size()) std::abort();
    ranges_[count_++] = range;
  }
  void remove(std::uintptr_t begin, std::uintptr_t end) noexcept {
    for (std::size_t i = count_; i-- > 0;) {
      const Range range = ranges_[i];
      if (range.end <= begin || range.begin >= end) continue;
      ranges_[i] = ranges_[--count_];
      put({range.begin, begin < range.begin ? range.begin : begin});
      put({end > range.end ? range.end : end, range.end});
    }
  }

  std::mutex mutex_;
  std::array<Range, 4096> ranges_{};
  std::size_t count_ = 0;
};
constinit Ledger g_ledger;

/// A sanitizer maps memory before the C library's functions can be looked up.
bool g_ready = false;

void* map_by_system_call(void* wanted, std::size_t bytes, int access, int flags, int fd,
                         off_t at) noexcept {
  long result = SYS_mmap;
  register long fourth asm("r10") = flags;
  register long fifth asm("r8") = fd;
  register long sixth asm("r9") = at;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(wanted), "S"(bytes), "d"(static_cast<long>(access)), "r"(fourth), "r"(fifth),
                 "r"(sixth)
               : "rcx", "r11", "memory");
  return result < 0 && result > -4096 ? MAP_FAILED : reinterpret_cast<void*>(result);
}

[[gnu::constructor]] void arm_by_environment() {
  g_ready = true;
  const char* const order = std::getenv("INJECT");
  const char* const wanted = std::getenv("INJECT_PROGRAM");
  char path[4096] = {};
  if (order == nullptr || wanted == nullptr ||
      ::readlink("/proc/self/exe", path, sizeof path - 1) <= 0)
    return;
  const char* const name = std::strrchr(path, '/');
  const char* const number = std::strchr(order, ':');
  if (name == nullptr || number == nullptr || std::strcmp(name + 1, wanted) != 0) return;
  const Kind kind = order[0] == 'd'   ? Kind::descriptor
                    : order[0] == 't' ? Kind::thread
                    : order[0] == 'p' ? Kind::process
                    : order[1] == 'a' ? Kind::mapping
                                      : Kind::memory;
  arm(kind, std::atol(number + 1));
}

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (strikes(Kind::memory)) return nullptr;
  const std::size_t most = bytes == 0 ? 1 : bytes;
  if (alignment == 0) return std::malloc(most);
  return std::aligned_alloc(alignment, (most + alignment - 1) / alignment * alignment);
}
/// What a thread does that an exempt one has made.
struct ExemptBody {
  void* (*body)(void*);
  void* argument;
};
void* run_exempt(void* start) {
  const ExemptBody exempt = *static_cast<ExemptBody*>(start);
  std::free(start);
  const Exempt inside;
  return exempt.body(exempt.argument);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const at = allocate(bytes, alignment);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}

}  // namespace

void arm(Kind kind, long n) noexcept {
  g_struck.store(false);
  g_left.store(n);
  g_kind.store(static_cast<int>(kind));
}

bool disarm() noexcept {
  g_kind.store(-1);
  return g_struck.load();
}

Exempt::Exempt() noexcept { ++t_exempt; }
Exempt::~Exempt() { --t_exempt; }

std::vector<std::string> mapped() { return g_ledger.list(); }

}  // namespace inject

using inject::Kind;
using inject::no_descriptor;
using inject::real;

// Memory.

void* operator new(std::size_t bytes) { return inject::allocate_or_throw(bytes, 0); }
void* operator new[](std::size_t bytes) { return inject::allocate_or_throw(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return inject::allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return inject::allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return inject::allocate(bytes, 0);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return inject::allocate(bytes, 0);
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete[](void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
void operator delete[](void* at, std::size_t) noexcept { std::free(at); }
void operator delete(void* at, std::align_val_t) noexcept { std::free(at); }
void operator delete[](void* at, std::align_val_t) noexcept { std::free(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { std::free(at); }
void operator delete[](void* at, std::size_t, std::align_val_t) noexcept { std::free(at); }
void operator delete(void* at, const std::nothrow_t&) noexcept { std::free(at); }
void operator delete[](void* at, const std::nothrow_t&) noexcept { std::free(at); }

extern "C" {

// Descriptors.

int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  static auto* const next = real<int(const char*, int, ...)>("open");
  return no_descriptor() ? -1 : next(path, flags, mode);
}
int socket(int domain, int type, int protocol) noexcept {
  static auto* const next = real<int(int, int, int)>("socket");
  return no_descriptor() ? -1 : next(domain, type, protocol);
}
int socketpair(int domain, int type, int protocol, int* ends) noexcept {
  static auto* const next = real<int(int, int, int, int*)>("socketpair");
  return no_descriptor() ? -1 : next(domain, type, protocol, ends);
}
int accept4(int socket, sockaddr* address, socklen_t* bytes, int flags) {
  static auto* const next = real<int(int, sockaddr*, socklen_t*, int)>("accept4");
  return no_descriptor() ? -1 : next(socket, address, bytes, flags);
}
int pipe2(int* ends, int flags) noexcept {
  static auto* const next = real<int(int*, int)>("pipe2");
  return no_descriptor() ? -1 : next(ends, flags);
}
int memfd_create(const char* name, unsigned flags) noexcept {
  static auto* const next = real<int(const char*, unsigned)>("memfd_create");
  return no_descriptor() ? -1 : next(name, flags);
}
int eventfd(unsigned value, int flags) noexcept {
  static auto* const next = real<int(unsigned, int)>("eventfd");
  return no_descriptor() ? -1 : next(value, flags);
}
int epoll_create1(int flags) noexcept {
  static auto* const next = real<int(int)>("epoll_create1");
  return no_descriptor() ? -1 : next(flags);
}
int signalfd(int fd, const sigset_t* mask, int flags) noexcept {
  static auto* const next = real<int(int, const sigset_t*, int)>("signalfd");
  return no_descriptor() ? -1 : next(fd, mask, flags);
}
int dup(int fd) noexcept {
  static auto* const next = real<int(int)>("dup");
  return no_descriptor() ? -1 : next(fd);
}
int fcntl(int fd, int command, ...) {
  std::va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  static auto* const next = real<int(int, int, ...)>("fcntl");
  const bool copies = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  return copies && no_descriptor() ? -1 : next(fd, command, argument);
}
/// As the kernel does it for a process that can have no more descriptors: the message comes
/// without.
ssize_t recvmsg(int socket, msghdr* message, int flags) {
  static auto* const next = real<ssize_t(int, msghdr*, int)>("recvmsg");
  const ssize_t bytes = next(socket, message, flags);
  cmsghdr* const rights = bytes >= 0 ? CMSG_FIRSTHDR(message) : nullptr;
  if (rights == nullptr || rights->cmsg_type != SCM_RIGHTS || !no_descriptor()) return bytes;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(rights), sizeof fd);
  ::close(fd);
  message->msg_controllen = 0;
  message->msg_flags |= MSG_CTRUNC;
  return bytes;
}
FILE* fopen(const char* path, const char* mode) {
  static auto* const next = real<FILE*(const char*, const char*)>("fopen");
  return no_descriptor() ? nullptr : next(path, mode);
}
DIR* opendir(const char* path) {
  static auto* const next = real<DIR*(const char*)>("opendir");
  return no_descriptor() ? nullptr : next(path);
}
long syscall(long number, ...) noexcept {
  std::va_list rest;
  va_start(rest, number);
  std::array<long, 6> words;
  for (long& word : words) word = va_arg(rest, long);
  va_end(rest);
  static auto* const next = real<long(long, ...)>("syscall");
  const bool opens = number == SYS_pidfd_open || number == SYS_userfaultfd;
  if (opens && no_descriptor()) return -1;
  return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

// Mappings.

void* mmap(void* wanted, std::size_t bytes, int access, int flags, int fd, off_t at) noexcept {
  if (!inject::g_ready) return inject::map_by_system_call(wanted, bytes, access, flags, fd, at);
  static auto* const next = real<void*(void*, std::size_t, int, int, int, off_t)>("mmap");
  if (inject::refuses(Kind::mapping, ENOMEM)) return MAP_FAILED;
  void* const mapped = next(wanted, bytes, access, flags, fd, at);
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped);
  if (mapped != MAP_FAILED) inject::g_ledger.add(begin, begin + (bytes + 4095) / 4096 * 4096);
  return mapped;
}
int munmap(void* mapped, std::size_t bytes) noexcept {
  static auto* const next = real<int(void*, std::size_t)>("munmap");
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped);
  // First: another thread may be given the addresses at once.
  inject::g_ledger.take(begin, begin + (bytes + 4095) / 4096 * 4096);
  return next(mapped, bytes);
}

// Threads and processes.

#ifdef INJECT_FORK  // in the library before a program: a sanitizer needs its own fork()
pid_t fork() noexcept {
  static auto* const next = real<pid_t()>("fork");
  return inject::refuses(Kind::process, EAGAIN) ? -1 : next();
}
#endif

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) noexcept {
  static auto* const next =
      real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  if (inject::strikes(Kind::thread)) return EAGAIN;
  if (inject::t_exempt == 0) return next(thread, attributes, body, argument);
  void* const start = std::malloc(sizeof(inject::ExemptBody));
  if (start == nullptr) return EAGAIN;
  const int problem =
      next(thread, attributes, inject::run_exempt, new (start) inject::ExemptBody{body, argument});
  if (problem != 0) std::free(start);
  return problem;
}

}  // extern "C"
