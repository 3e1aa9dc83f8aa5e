#include "runtime/launcher/labels.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
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
void write_all(int target, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(target, text.data() + done, text.size() - done);
    if (wrote >= 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (errno == EAGAIN) {
      pollfd ready{target, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return;  // nobody reads any more: the ranks' output is lost as it would be without labels
    }
  }
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
      } else if (!drain(streams_[what])) {
        streams_[what].pipe.reset();  // which also takes it out of the epoll set
      }
    }
  }
  for (Stream& stream : streams_) {
    if (stream.pipe.is_open()) drain(stream);
    emit(stream, true);
  }
}

/// Reads what is there. False at the end of the stream.
bool Labels::drain(Stream& stream) {
  std::array<char, kReadBytes> buffer{};
  while (true) {
    const ssize_t got = ::read(stream.pipe.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) {
      emit(stream, true);
      return false;
    }
    stream.partial.append(buffer.data(), static_cast<std::size_t>(got));
    emit(stream, stream.partial.size() > kLongestLine);
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
  write_all(stream.target, text);
}

}  // namespace viaduct::launcher
