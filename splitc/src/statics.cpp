#include "splitc/src/statics.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/errors/codes.hpp"
#include "splitc/src/held_threads.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::splitc::detail {
namespace {

/// Which pages of this process have never been touched, from /proc/self/pagemap. All pages count as
/// touched where the file cannot be read.
class Pagemap {
 public:
  Pagemap() : file_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}

  [[nodiscard]] bool is_touched(std::uintptr_t page) {
    constexpr std::uint64_t kPresentOrSwapped = std::uint64_t{3} << 62;
    const std::uintptr_t number = page / kPageBytes;
    if (number < first_ || number >= first_ + count_) look(number);
    return count_ == 0 || (entries_[number - first_] & kPresentOrSwapped) != 0;
  }

 private:
  void look(std::uintptr_t number) {
    const ssize_t got = file_.is_open()
                            ? ::pread(file_.get(), entries_.data(), sizeof entries_,
                                      static_cast<off_t>(number * sizeof(std::uint64_t)))
                            : -1;
    first_ = number;
    count_ = got > 0 ? static_cast<std::size_t>(got) / sizeof(std::uint64_t) : 0;
  }
  FileDescriptor file_;
  std::uintptr_t first_ = 0;
  std::size_t count_ = 0;
  std::array<std::uint64_t, 512> entries_;
};

/// Calls @p run(begin, end) for every run of pages that hold data. Zeroed pages that were never
/// touched are left out: they take no memory before the move, nor after it.
template <class Run>
void for_each_run(const Image& image, PageRange range, Run&& run) {
  Pagemap pagemap;
  const auto is_needed = [&](std::uintptr_t page) {
    const bool zeroed = std::any_of(image.zeroed.begin(), image.zeroed.end(), [page](PageRange z) {
      return z.begin <= page && page < z.end;
    });
    return !zeroed || pagemap.is_touched(page);
  };
  for (std::uintptr_t page = range.begin; page < range.end;) {
    std::uintptr_t end = page;
    while (end < range.end && is_needed(end)) end += kPageBytes;
    if (end != page) run(page, end);
    page = end + kPageBytes;
  }
}

// The following functions make system calls only, and not by the C library's functions of the same
// name: the program's own malloc may keep its state in static data, and sanitizers check the reads
// of library functions.

/// Answers 0 or an errno value.
int copy_out(std::uintptr_t from, std::uintptr_t to, int fd, std::size_t offset) noexcept {
  while (from < to) {
    const long wrote = ::syscall(SYS_pwrite64, fd, from, to - from, offset);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return wrote == 0 ? EIO : errno;
    from += static_cast<std::size_t>(wrote);
    offset += static_cast<std::size_t>(wrote);
  }
  return 0;
}

/// Pages that may be used otherwise than read and written: the program has called mprotect().
struct ProtectedPages {
  PageRange pages;
  int access;
};

int protect(PageRange pages, int access) noexcept {
  return ::syscall(SYS_mprotect, pages.begin, pages.bytes(), access) == 0 ? 0 : errno;
}

/// Answers 0 or an errno value.
int move_range(const Image& image, PageRange range, int fd, std::size_t offset) noexcept {
  int problem = 0;
  for_each_run(image, range, [&](std::uintptr_t begin, std::uintptr_t end) {
    if (problem == 0) problem = copy_out(begin, end, fd, offset + (begin - range.begin));
  });
  if (problem != 0) return problem;
  const long at = ::syscall(SYS_mmap, range.begin, range.bytes(), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_FIXED, fd, offset);
  return at == -1 ? errno : 0;
}

/// An errno value, or 0, and the bytes of the range that it is about.
struct Moved {
  int problem = 0;
  std::size_t bytes = 0;
};

/// Moves all ranges, while no other thread runs and no handler of a signal.
Moved move_all(const Image& image, std::span<const ProtectedPages> all_protected, int fd,
               std::size_t at) noexcept {
  Moved moved;
  for (const ProtectedPages& p : all_protected)
    if ((p.access & PROT_READ) == 0) (void)protect(p.pages, PROT_READ);
  for (const PageRange& range : image.statics) {
    moved = {move_range(image, range, fd, at), range.bytes()};
    if (moved.problem != 0) break;
    at += range.bytes();
  }
  for (const ProtectedPages& p : all_protected) {
    const int problem = protect(p.pages, p.access);
    if (problem != 0 && moved.problem == 0) moved = {problem, p.pages.bytes()};
  }
  return moved;
}

[[nodiscard]] std::vector<ProtectedPages> protected_pages(const Image& image) {
  std::vector<ProtectedPages> found;
  for (const PageRange& range : image.statics) {
    for (const Mapping& mapping : mappings_at(range)) {
      if (mapping.access == (PROT_READ | PROT_WRITE)) continue;
      const PageRange pages{std::max(mapping.range.begin, range.begin),
                            std::min(mapping.range.end, range.end)};
      found.push_back({pages, mapping.access});
    }
  }
  return found;
}

[[nodiscard]] std::string name_of_thread(pid_t id) {
  const FileDescriptor file(
      ::open(fmt::format("/proc/self/task/{}/comm", id).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 32> text;
  const ssize_t got = file.is_open() ? ::read(file.get(), text.data(), text.size()) : 0;
  return got > 1 ? std::string(text.data(), static_cast<std::size_t>(got) - 1) : "unnamed";
}

/// The reason against sharing when not all threads could be held.
[[nodiscard]] std::string unheld_sentence(std::size_t threads, pid_t unheld) {
  if (threads == 0) return "/proc/self/task, which tells the threads, cannot be read";
  std::string sentence = fmt::format(
      "{} threads were running before splitc_main, and not all of them take the signal that would "
      "hold them for a moment (SIGURG)",
      threads);
  if (unheld != 0)
    sentence += fmt::format(": thread {} ({}) blocks it", unheld, name_of_thread(unheld));
  return sentence;
}

}  // namespace

std::string reason_against_sharing(const Image& image) {
  if (!image.has_interpreter) {
    return "the program is linked statically, so that the C library's own data, which a forked "
           "child writes to at once, is among it";
  }
  if (image.statics.empty()) return "the program has none";
  const HeldThreads held;
  return held.all() ? std::string() : unheld_sentence(held.threads(), held.unheld());
}

std::string share_statics(const Image& image, MemoryFile& file, std::size_t offset) {
  std::size_t at = offset;
  for (const PageRange& range : image.statics) {
    for_each_run(image, range, [&](std::uintptr_t begin, std::uintptr_t end) {
      const std::size_t to = at + (begin - range.begin);
      file.check_headroom(end - begin);
      file.reserve(to, to + (end - begin));
    });
    at += range.bytes();
  }
  const std::vector<ProtectedPages> all_protected = protected_pages(image);
  Moved moved;
  std::size_t threads = 0;
  pid_t unheld = 0;
  bool all_held = false;
  {
    // Its time in full: a thread that blocks signals now and then (the first hold has woken it)
    // takes this one later.
    const HeldThreads held(HeldThreads::kPatienceNs);
    all_held = held.all();
    threads = held.threads();
    unheld = held.unheld();
    if (all_held) moved = move_all(image, all_protected, file.fd(), offset);
  }
  if (!all_held) {
    file.punch(offset, at);
    return unheld_sentence(threads, unheld);
  }
  if (moved.problem != 0)
    throw Error(errors::system_refused, moved.problem,
                fmt::format("cannot move {} bytes of the program's static data into shared memory",
                            moved.bytes));
  return {};
}

}  // namespace viaduct::splitc::detail
