#include "runtime/launcher/labels.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "runtime/error.hpp"

namespace viaduct::launcher {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kLongestLine = std::size_t{1}
                                     << 20;  // a longer one is cut, or it would take all memory
constexpr std::uint64_t kStop = ~std::uint64_t{0};

/// Writes all of @p text; waits where the target was made non-blocking by someone who shares it.
/// False when it cannot be written: nobody reads any more.
bool write_all(int target, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(target, text.data() + done, text.size() - done);
    if (wrote >= 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (errno == EAGAIN) {
      pollfd ready{target, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

/// What a pipe holds now. Without an answer: all that it can hold.
std::size_t bytes_in(int pipe) {
  int bytes = 0;
  return ::ioctl(pipe, FIONREAD, &bytes) == 0 ? static_cast<std::size_t>(bytes) : kReadBytes;
}

}  // namespace

Labels::Ends Labels::add(const std::string& label) {
  Ends ends;
  ends.out = add_stream(label, STDOUT_FILENO);
  ends.err = add_stream(label, STDERR_FILENO);
  return ends;
}

Descriptor Labels::add_stream(const std::string& label, int target) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw_errno("cannot open a pipe for a rank's output");
  // Only the reading end: the two ends of a pipe have their flags apart.
  ::fcntl(pipe[0], F_SETFL, O_NONBLOCK);
  streams_.push_back({Descriptor(pipe[0]), target, label, {}});
  return Descriptor(pipe[1]);
}

void Labels::start() {
  if (streams_.empty()) return;
  stop_ = Descriptor(::eventfd(0, EFD_CLOEXEC));
  if (!stop_.is_open()) throw_errno("cannot open an eventfd");
  thread_ = std::thread([this] { loop(); });
}

void Labels::finish() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  static_cast<void>(!::write(stop_.get(), &one, sizeof one));
  thread_.join();
}

void Labels::loop() {
  const Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  const auto watch = [&](int fd, std::uint64_t what) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = what;
    ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event);
  };
  for (std::size_t i = 0; i < streams_.size(); ++i) watch(streams_[i].pipe.get(), i);
  watch(stop_.get(), kStop);
  bool stopping = false;
  while (!stopping) {
    std::array<epoll_event, 64> events{};
    const int count = ::epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t what = events[static_cast<std::size_t>(i)].data.u64;
      if (what == kStop) {
        stopping = true;
      } else if (streams_[what].pipe.is_open()) {
        drain(streams_[what]);  // a pipe that it closes leaves the epoll set, too
      }
    }
  }
  for (Stream& stream : streams_) finish(stream);
}

/// Reads once, so that a rank which writes without end leaves the others, and the end, their turn.
/// Closes the pipe at its end. Answers the bytes that came.
std::size_t Labels::drain(Stream& stream) {
  std::array<char, kReadBytes> buffer{};
  ssize_t got = 0;
  do {
    got = ::read(stream.pipe.get(), buffer.data(), buffer.size());
  } while (got < 0 && errno == EINTR);
  if (got > 0) {
    stream.partial.append(buffer.data(), static_cast<std::size_t>(got));
    emit(stream, stream.partial.size() > kLongestLine);
    return static_cast<std::size_t>(got);
  }
  if (got == 0) {
    emit(stream, true);
    stream.pipe.reset();
  }
  return 0;
}

/// All ranks have ended: writes what the pipe holds, and not what others go on putting there.
void Labels::finish(Stream& stream) {
  if (stream.pipe.is_open()) {
    for (std::size_t left = bytes_in(stream.pipe.get()); left != 0 && stream.pipe.is_open();) {
      const std::size_t got = drain(stream);
      if (got == 0) break;
      left -= std::min(left, got);
    }
  }
  emit(stream, true);
}

/// Nobody reads @p target any more: closes what was to go there, so that the ranks' next write
/// fails, with SIGPIPE, as it does without labels.
void Labels::break_off(int target) {
  for (Stream& stream : streams_) {
    if (stream.target != target) continue;
    stream.pipe.reset();
    stream.partial.clear();
  }
}

/// Writes the whole lines that have arrived; with @p all also what follows the last of them.
void Labels::emit(Stream& stream, bool all) {
  std::string text;
  std::size_t at = 0;
  while (at < stream.partial.size()) {
    const std::size_t newline = stream.partial.find('\n', at);
    if (newline == std::string::npos && !all) break;
    const std::size_t end = newline == std::string::npos ? stream.partial.size() : newline;
    text += stream.label;
    text.append(stream.partial, at, end - at);
    text += '\n';
    at = end + (newline == std::string::npos ? 0 : 1);
  }
  stream.partial.erase(0, at);
  if (!write_all(stream.target, text)) break_off(stream.target);
}

}  // namespace viaduct::launcher
