#pragma once
/// @file
/// Open file descriptors with an owner. Each descriptor that the library and its programs open
/// belongs to an object of these classes, so that an exception leaves none open.

namespace viaduct {

/// Closes @p fd, for code that cannot have an owner: between fork and exec, in fork handlers, and
/// for ranges of inherited descriptors. A negative @p fd is none. errno stays as it is.
///
/// Call from   anywhere, also signal handlers and forked children
void close_descriptor(int fd) noexcept;

/// Answers @p fd, or its copy with a number above 2 in place of it. A program may have closed its
/// standard streams at any time, so everything that the library opens passes through here.
///
/// @return  -1 with errno when @p fd is negative or no further descriptor is free
int above_standard(int fd) noexcept;

/// Owns an open file descriptor with a number above 2, or none.
class FileDescriptor {
 public:
  FileDescriptor() noexcept = default;
  /// Takes over @p fd as open(), socket() and the like answer it: a negative one is none. errno
  /// stays as it is, unless above_standard() finds no number for @p fd.
  explicit FileDescriptor(int fd) noexcept : fd_(above_standard(fd)) {}
  ~FileDescriptor() { close_descriptor(fd_); }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    const int before = fd_;
    fd_ = other.release();
    if (before != fd_) close_descriptor(before);
    return *this;
  }

  /// @return the descriptor, which stays this owner's; -1 for none.
  [[nodiscard]] int get() const noexcept { return fd_; }
  /// @return whether there is one.
  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  /// Gives the descriptor away.  @return it, for the caller to close; -1 for none.
  [[nodiscard]] int release() noexcept {
    const int given = fd_;
    fd_ = -1;
    return given;
  }
  /// Closes the descriptor now. errno stays as it is.  Cost: a system call, unless there is none.
  void reset() noexcept { close_descriptor(release()); }

 private:
  int fd_ = -1;
};

/// Both ends of a pipe.
struct Pipe {
  FileDescriptor reading;
  FileDescriptor writing;
};

/// Opens a pipe whose ends do not outlive exec.
///
/// @return  two open ends, or none, and errno tells why
[[nodiscard]] Pipe open_pipe() noexcept;

}  // namespace viaduct
