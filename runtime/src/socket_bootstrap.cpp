#include <fmt/format.h>
#include <atomic>
#include <cerrno>
#include <utility>

#include "runtime/errors/codes.hpp"
#include "runtime/job_size.hpp"
#include "runtime/src/job_bootstrap.hpp"
#include "runtime/src/secret.hpp"
#include "runtime/src/wire_format.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

using wire_format::Datagram;
using wire_format::Kind;
using wire_format::Message;

class SocketBootstrap final : public JobBootstrap {
 public:
  SocketBootstrap(FileDescriptor socket, const ForkMark& mark, Rank rank, std::uint32_t size)
      : socket_(std::move(socket)), mark_(mark), rank_(rank), size_(size) {}

  void put(std::string_view key, std::span<const std::byte> value) override {
    mark_.refuse_in_child("Bootstrap::put");
    check_length("key", key.size(), wire_format::kMaxKeyBytes);
    check_length("value", value.size(), wire_format::kMaxValueBytes);
    send({Kind::put, index(rank_), key, value}, -1);
  }

  void fence() override {
    mark_.refuse_in_child("Bootstrap::fence");
    const Answer answer = ask({Kind::fence});
    if (answer.message.kind == Kind::released) return;
    if (answer.message.kind != Kind::lost) reject(answer);
    throw Error(
        errors::lost_at_fence, std::errc::owner_dead,
        fmt::format("rank {} was lost or ended its job before it reached the fence that rank {} "
                    "waits at",
                    answer.message.rank, index(rank_)));
  }

  bool fence_survivors() override {
    try {
      return ask({Kind::fence_survivors}).message.kind == Kind::released;
    } catch (const Error&) {
      // There is nothing left to wait for. Without a launcher the system is about to end this
      // process too; where the program has closed the connection, the launcher tells the others.
      return false;
    }
  }

  bool fence_failed(std::chrono::milliseconds limit) override {
    try {
      const Asking asking(*this);
      Answer answer;
      send({Kind::fence_failed}, -1);
      if (!wire_format::readable_within(socket_.get(), limit)) return false;
      take(answer);
      return answer.message.kind == Kind::released;
    } catch (const Error&) {  // as above
      return false;
    }
  }

  void tell_barrier(std::uint32_t ticket) noexcept override {
    tell({Kind::barrier, index(rank_), {}, bytes_of_object(ticket)});
  }
  void tell_ending() noexcept override { tell({Kind::ending, index(rank_)}); }
  void tell_failing() noexcept override { tell({Kind::failing, index(rank_)}); }
  void tell_port(bool down) noexcept override {
    tell({down ? Kind::port_down : Kind::port_up, index(rank_)});
  }

  std::vector<std::byte> get(Rank rank, std::string_view key) override {
    mark_.refuse_in_child("Bootstrap::get");
    const Answer answer = ask_get(rank, key);
    if (answer.message.kind == Kind::nothing) reject_unpublished(rank, key);
    return {answer.message.value.begin(), answer.message.value.end()};
  }

  std::vector<std::byte> get_or_empty(Rank rank, std::string_view key) override {
    const Answer answer = ask_get(rank, key);
    return {answer.message.value.begin(), answer.message.value.end()};
  }

  void share_fd(int fd, std::string_view key) override {
    mark_.refuse_in_child("Bootstrap::share_fd");
    check_length("key", key.size(), wire_format::kMaxKeyBytes);
    send({Kind::share_fd, index(rank_), key}, fd);
  }

  FileDescriptor fetch_fd(Rank rank, std::string_view key) override {
    mark_.refuse_in_child("Bootstrap::fetch_fd");
    check_rank(rank);
    check_length("key", key.size(), wire_format::kMaxKeyBytes);
    Answer answer = ask({Kind::fetch_fd, index(rank), key});
    if (answer.message.kind == Kind::descriptor && answer.datagram.fd.is_open())
      return std::move(answer.datagram.fd);
    if (answer.message.kind == Kind::descriptor)  // the kernel drops one that finds no place
      throw Error(errors::system_refused, std::errc::too_many_files_open,
                  fmt::format("rank {} has no place for the descriptor that rank {} has shared: "
                              "raise ulimit -n",
                              index(rank_), index(rank)));
    if (answer.message.kind != Kind::nothing) reject(answer);
    throw Error(errors::nothing_published, std::errc::no_message,
                fmt::format("rank {} has shared no descriptor{}, or it is lost", index(rank),
                            under_key(key)));
  }

 private:
  /// Made before its question is sent: a question is not left without its answer being read, which
  /// the next question would take for its own.
  struct Answer {
    Answer() { datagram.bytes.reserve(wire_format::kMaxMessageBytes); }
    Datagram datagram;
    Message message;
  };

  void check_rank(Rank rank) const {
    if (index(rank) < size_) return;
    throw Error(errors::no_such_rank, std::errc::invalid_argument,
                fmt::format("rank {} is out of range: {}", index(rank), describe_ranks(size_)));
  }

  static void check_length(const char* what, std::size_t bytes, std::size_t limit) {
    if (bytes <= limit) return;
    throw Error(
        errors::bootstrap_too_long, std::errc::message_size,
        fmt::format("a bootstrap {} of {} bytes is too long: the limit is {}", what, bytes, limit));
  }

  [[noreturn]] static void reject(const Answer& answer) {
    throw Error(errors::versions_differ, std::errc::bad_message,
                fmt::format("viaduct-run gave an answer of unexpected kind {}",
                            static_cast<unsigned>(answer.message.kind)));
  }

  void tell(const Message& message) const noexcept {
    try {
      send(message, -1);
    } catch (const std::exception&) {  // without a launcher this process is about to end
    }
  }

  void send(const Message& message, int fd) const {
    const int problem = wire_format::send(socket_.get(), wire_format::encode(message), fd, 0);
    if (problem != 0)
      throw Error(errors::launcher_lost, problem,
                  fmt::format("rank {} cannot reach viaduct-run", index(rank_)));
  }

  Answer ask_get(Rank rank, std::string_view key) const {
    check_rank(rank);
    check_length("key", key.size(), wire_format::kMaxKeyBytes);
    Answer answer = ask({Kind::get, index(rank), key});
    if (answer.message.kind != Kind::value && answer.message.kind != Kind::nothing) reject(answer);
    return answer;
  }

  Answer ask(const Message& question) const {
    const Asking asking(*this);
    Answer answer;
    send(question, -1);
    take(answer);
    return answer;
  }

  /// Answers do not name their question, so only one thread may ask at a time.
  class Asking {
   public:
    explicit Asking(const SocketBootstrap& bootstrap) : bootstrap_(bootstrap) {
      if (bootstrap.asking_.exchange(true, std::memory_order_acquire))
        throw Error(
            errors::job_of_two_threads, std::errc::operation_in_progress,
            fmt::format("two threads of rank {} wait for viaduct-run at the same time: a "
                        "rank's Job, and what it makes with it, is for one thread at a time",
                        index(bootstrap.rank_)));
    }
    ~Asking() { bootstrap_.asking_.store(false, std::memory_order_release); }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;

   private:
    const SocketBootstrap& bootstrap_;
  };

  void take(Answer& answer) const {
    const int problem = wire_format::receive(socket_.get(), answer.datagram, 0);
    if (problem != 0 || answer.datagram.end_of_stream) {
      throw Error(errors::launcher_lost, problem != 0 ? problem : EPIPE,
                  fmt::format("rank {} has lost viaduct-run", index(rank_)));
    }
    std::string reason;
    const auto message = wire_format::decode(answer.datagram.bytes, reason);
    if (!message)
      throw Error(errors::versions_differ, std::errc::bad_message, "viaduct-run sent " + reason);
    answer.message = *message;
  }

  FileDescriptor socket_;
  const ForkMark& mark_;
  Rank rank_;
  std::uint32_t size_;
  mutable std::atomic<bool> asking_ = false;
};

}  // namespace

void reject_unpublished(Rank rank, std::string_view key) {
  throw Error(
      errors::nothing_published, std::errc::no_message,
      fmt::format("rank {} has put nothing under \"{}\" before the last fence: all ranks must run "
                  "the same program, begin Active Messages and Split-C in the same order, and make "
                  "the same calls of their Bootstrap",
                  index(rank), key));
}

std::unique_ptr<JobBootstrap> make_socket_bootstrap(FileDescriptor socket, const ForkMark& mark,
                                                    Rank rank, std::uint32_t size) {
  return std::make_unique<SocketBootstrap>(std::move(socket), mark, rank, size);
}

}  // namespace viaduct
