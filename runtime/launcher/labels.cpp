#include "runtime/launcher/labels.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/errors/codes.hpp"
#include "runtime/launcher/say.hpp"
#include "runtime/launcher/start_thread.hpp"
#include "runtime/launcher/write_all.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::launcher {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kLongestLine = std::size_t{1}
                                     << 20;  // a longer one is cut, or it would take all memory
constexpr std::uint64_t kStop = ~std::uint64_t{0};

bool is_same_file(int first, int second) {
  struct stat a {};
  struct stat b {};
  return ::fstat(first, &a) == 0 && ::fstat(second, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

/// The bytes that a pipe holds now. Where the system gives no answer: all that it can hold.
std::size_t bytes_in(int pipe) {
  int bytes = 0;
  return ::ioctl(pipe, FIONREAD, &bytes) == 0 ? static_cast<std::size_t>(bytes) : kReadBytes;
}

}  // namespace

/// The output to one stream of viaduct-run. The writing thread shares this object, and may be stuck
/// in a write when the process ends.
class Labels::Target : public std::enable_shared_from_this<Labels::Target> {
 public:
  Target(int stream, const char* name, std::shared_ptr<std::mutex> writing)
      : stream_(stream), name_(name), writing_(std::move(writing)) {}

  [[nodiscard]] FileDescriptor add(const std::string& label);
  void start();
  void stop();
  [[nodiscard]] bool done_within(std::chrono::milliseconds limit);
  [[nodiscard]] std::size_t written() const { return written_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] bool is_refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  struct Source {
    FileDescriptor pipe;
    std::string label;
    std::string partial;
  };
  void loop();
  void read_until_stopped();
  std::size_t drain(Source& source);
  void finish(Source& source);
  void emit(Source& source, bool all);
  int write_whole(const std::string& text);
  void break_off(int problem);

  int stream_;
  const char* name_;
  std::shared_ptr<std::mutex> writing_;  // held while whole lines are written
  std::vector<Source> sources_;          // the thread's, once it runs
  std::vector<int> pipes_;               // their numbers, for waiting()
  FileDescriptor stop_;
  FileDescriptor epoll_;
  std::atomic<std::size_t> written_{0};
  std::atomic<std::size_t> left_{0};  // of the text that is being written
  std::atomic<bool> refused_{false};
  std::mutex mutex_;
  std::condition_variable ended_;
  bool runs_ = false;
};

FileDescriptor Labels::Target::add(const std::string& label) {
  Pipe pipe = open_pipe();
  if (!pipe.reading.is_open())
    throw_errno(errors::system_refused, "cannot open a pipe for a rank's output");
  Source source{std::move(pipe.reading), label, {}};
  // Only the reading end: the two ends of a pipe have their flags apart.
  ::fcntl(source.pipe.get(), F_SETFL, O_NONBLOCK);
  pipes_.push_back(source.pipe.get());
  sources_.push_back(std::move(source));
  return std::move(pipe.writing);
}

void Labels::Target::start() {
  if (sources_.empty()) return;
  stop_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC));
  if (!stop_.is_open()) throw_errno(errors::system_refused, "cannot open an eventfd");
  epoll_ = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.is_open()) throw_errno(errors::system_refused, "cannot open an epoll instance");
  runs_ = true;
  try {
    start_thread("the ranks' output", [self = shared_from_this()] { self->loop(); }).detach();
  } catch (const Error&) {
    runs_ = false;
    throw;
  }
}

void Labels::Target::stop() {
  const std::uint64_t one = 1;
  if (stop_.is_open()) static_cast<void>(!::write(stop_.get(), &one, sizeof one));
}

bool Labels::Target::done_within(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, limit, [this] { return !runs_; });
}

std::size_t Labels::Target::waiting() const {
  std::size_t bytes = left_.load(std::memory_order_relaxed);
  for (const int pipe : pipes_) {
    int held = 0;
    if (::ioctl(pipe, FIONREAD, &held) == 0) bytes += static_cast<std::size_t>(held);
  }
  return bytes;
}

void Labels::Target::loop() {
  read_until_stopped();
  epoll_.reset();
  for (Source& source : sources_) finish(source);
  const std::lock_guard lock(mutex_);
  runs_ = false;
  ended_.notify_all();
}

void Labels::Target::read_until_stopped() {
  const auto watch = [this](int fd, std::uint64_t what) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = what;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  };
  for (std::size_t i = 0; i < sources_.size(); ++i) watch(sources_[i].pipe.get(), i);
  watch(stop_.get(), kStop);
  while (true) {
    std::array<epoll_event, 64> events{};
    const int count =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    if (count < 0 && errno != EINTR) return;
    for (int i = 0; i < count; ++i) {
      const std::uint64_t what = events[static_cast<std::size_t>(i)].data.u64;
      if (what == kStop) return;
      if (sources_[what].pipe.is_open())
        drain(sources_[what]);  // a pipe that it closes leaves the epoll set, too
    }
  }
}

/// Reads once, so that a rank which writes without end leaves the others, and the end, their turn.
/// Closes the pipe at its end. Answers the bytes that came.
std::size_t Labels::Target::drain(Source& source) {
  std::array<char, kReadBytes> buffer{};
  ssize_t got = 0;
  do {
    got = ::read(source.pipe.get(), buffer.data(), buffer.size());
  } while (got < 0 && errno == EINTR);
  if (got > 0) {
    source.partial.append(buffer.data(), static_cast<std::size_t>(got));
    emit(source, false);
    if (source.partial.size() > kLongestLine) emit(source, true);
    return static_cast<std::size_t>(got);
  }
  if (got == 0) {
    emit(source, true);
    source.pipe.reset();
  }
  return 0;
}

/// Writes the bytes that the pipe holds now, and not those that processes add meanwhile.
void Labels::Target::finish(Source& source) {
  if (source.pipe.is_open()) {
    for (std::size_t left = bytes_in(source.pipe.get()); left != 0 && source.pipe.is_open();) {
      const std::size_t got = drain(source);
      if (got == 0) break;
      left -= std::min(left, got);
    }
  }
  emit(source, true);
}

/// Writes the whole lines that have arrived; with @p all also an incomplete last one.
void Labels::Target::emit(Source& source, bool all) {
  std::string text;
  std::size_t at = 0;
  while (at < source.partial.size()) {
    const std::size_t newline = source.partial.find('\n', at);
    if (newline == std::string::npos && !all) break;
    const std::size_t end = newline == std::string::npos ? source.partial.size() : newline;
    text += source.label;
    text.append(source.partial, at, end - at);
    text += '\n';
    at = end + (newline == std::string::npos ? 0 : 1);
  }
  source.partial.erase(0, at);
  const int problem = write_whole(text);
  if (problem != 0) break_off(problem);
}

int Labels::Target::write_whole(const std::string& text) {
  left_ = text.size();
  const std::lock_guard lock(*writing_);
  const int problem = write_all(stream_, text, &left_);
  written_ += text.size();
  return problem;
}

/// The stream takes no output any more: closes the ranks' pipes, so that their next write fails,
/// with SIGPIPE, as it does without labels when the reader is gone.
void Labels::Target::break_off(int problem) {
  left_ = 0;
  for (Source& source : sources_) {
    source.pipe.reset();
    source.partial.clear();
  }
  if (problem == EPIPE) return;
  refused_ = true;
  say(fmt::format("the ranks' output cannot be written to {}: {}", name_,
                  std::error_code(problem, std::generic_category()).message()));
}

/// With 2>&1, lines of the two streams would mix in their common file: they share one mutex.
Labels::Labels() {
  const auto output = std::make_shared<std::mutex>();
  const auto error =
      is_same_file(STDOUT_FILENO, STDERR_FILENO) ? output : std::make_shared<std::mutex>();
  targets_ = {std::make_shared<Target>(STDOUT_FILENO, "standard output", output),
              std::make_shared<Target>(STDERR_FILENO, "standard error", error)};
}

Labels::~Labels() { stop(); }

Labels::Ends Labels::add(const std::string& label) {
  Ends ends;
  ends.out = targets_[0]->add(label);
  ends.err = targets_[1]->add(label);
  return ends;
}

void Labels::start() {
  for (const auto& target : targets_) target->start();
}

void Labels::stop() {
  for (const auto& target : targets_) target->stop();
}

bool Labels::done_within(std::chrono::milliseconds limit) const {
  const auto until = std::chrono::steady_clock::now() + limit;
  const auto left = [until] {
    return std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  };
  return targets_[0]->done_within(left()) && targets_[1]->done_within(left());
}

std::size_t Labels::written() const { return targets_[0]->written() + targets_[1]->written(); }

std::size_t Labels::waiting() const { return targets_[0]->waiting() + targets_[1]->waiting(); }

bool Labels::is_refused() const { return targets_[0]->is_refused() || targets_[1]->is_refused(); }

}  // namespace viaduct::launcher
