#pragma once
/// @file
/// Makes the n-th call of a kind fail, once, in this process. inject.cpp stands between the program
/// and the C library: linked into a test, or loaded before a program (LD_PRELOAD).

#include <cstddef>
#include <string>
#include <vector>

namespace inject {

enum class Kind {
  memory,      // operator new throws std::bad_alloc
  descriptor,  // what makes a file descriptor answers EMFILE
  mapping,     // mmap() answers ENOMEM
  thread,      // pthread_create() answers EAGAIN
  process,     // fork() answers EAGAIN: where this is a library before a program
};

/// From now on call number @p n of @p kind, counted from 1 over all threads, fails.
void arm(Kind kind, long n) noexcept;
/// No call fails any more.  @return whether one has.
bool disarm() noexcept;

/// While one lives, no call of its thread fails or counts, and neither does any of a thread that is
/// made meanwhile: those of a library that is not meant.
class Exempt {
 public:
  Exempt() noexcept;
  ~Exempt();
  Exempt(const Exempt&) = delete;
  Exempt& operator=(const Exempt&) = delete;
};

/// What mmap() has given and munmap() has not taken back, each as a text. Mappings that the C
/// library makes for itself (stacks of threads, libraries, malloc) are not among them.
[[nodiscard]] std::vector<std::string> mapped();

}  // namespace inject
