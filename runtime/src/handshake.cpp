#include "runtime/src/handshake.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::handshake {
namespace {

using link::Clock;

Digest prove(std::string_view secret, std::string_view purpose, const Nonce& hub,
             const Nonce& caller, std::span<const std::byte> said = {}) {
  return authenticate(bytes_of(secret), {bytes_of(purpose), hub, caller, said});
}

std::span<const std::byte> said_in(const Verdict& verdict) noexcept {
  return bytes_of_object(verdict).first(sizeof verdict - sizeof verdict.proof);
}

/// Reads or writes all of a fixed-size message. False: the time is up, or the peer has gone.
class Socket {
 public:
  Socket(FileDescriptor connected, Clock::time_point limit)
      : owner_(std::move(connected)), fd_(owner_.get()), limit_(limit) {}
  FileDescriptor release() noexcept { return std::move(owner_); }

  template <class Plain>
  bool read(Plain& into) {
    return move(reinterpret_cast<std::byte*>(&into), sizeof into, POLLIN);
  }
  template <class Plain>
  bool write(const Plain& from) {
    return move(const_cast<std::byte*>(bytes_of_object(from).data()), sizeof from, POLLOUT);
  }

 private:
  bool move(std::byte* bytes, std::size_t count, short direction) {
    for (std::size_t done = 0; done < count;) {
      if (!ready(direction)) return false;
      const ssize_t moved =
          direction == POLLIN
              ? ::recv(fd_, bytes + done, count - done, MSG_DONTWAIT)
              : ::send(fd_, bytes + done, count - done, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (moved > 0) done += static_cast<std::size_t>(moved);
      if (moved == 0 || (moved < 0 && errno != EAGAIN && errno != EINTR)) return false;
    }
    return true;
  }
  [[nodiscard]] bool ready(short direction) const {
    pollfd wanted{fd_, direction, 0};
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit_ - Clock::now()).count();
      const int count =
          ::poll(&wanted, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000)));
      if (count >= 0 || errno != EINTR) return count > 0;
    }
  }
  FileDescriptor owner_;
  int fd_;
  Clock::time_point limit_;
};

}  // namespace

Greeting::Greeting(std::string_view secret) : secret_(secret) {
  hello_.mark = kMark;
  hello_.byte_order = kByteOrder;
  fill_random(hello_.nonce);
}

Greeting::Outcome Greeting::judge(const CallerHello& answer) {
  if (answer.mark != kMark || answer.byte_order != kByteOrder) return Outcome::no_viaduct;
  caller_nonce_ = answer.nonce;
  const Digest expected =
      prove(secret_, "caller", hello_.nonce, caller_nonce_, bytes_of_object(answer.caller));
  return equal_digests(expected, answer.proof) ? Outcome::proved : Outcome::wrong_secret;
}

Verdict Greeting::verdict(Answer answer, std::string_view sentence) const {
  Verdict verdict{};
  verdict.mark = kMark;
  verdict.answer = answer;
  verdict.sentence = fixed_text<sizeof verdict.sentence>(sentence);
  // The verdict has no proof where the caller has given none: a proof would help to guess the
  // secret.
  if (answer != Answer::wrong_secret)
    verdict.proof = prove(secret_, "verdict", hello_.nonce, caller_nonce_, said_in(verdict));
  return verdict;
}

link::Keys Greeting::keys() const {
  return {prove(secret_, "from the hub", hello_.nonce, caller_nonce_),
          prove(secret_, "to the hub", hello_.nonce, caller_nonce_)};
}

link::Link greet_hub(FileDescriptor connected, const Caller& caller, std::string_view secret,
                     const std::string& where, Clock::time_point limit) {
  Socket socket(std::move(connected), limit);
  HubHello hub{};
  if (!socket.read(hub) || hub.mark != kMark)
    throw Error(errors::not_the_hub, std::errc::protocol_error,
                fmt::format("what answers at {} is not the hub of a Viaduct job, or one of another "
                            "version: is the address right?",
                            where));
  if (hub.byte_order != kByteOrder)
    throw Error(errors::not_the_hub, std::errc::protocol_error,
                fmt::format("the hub at {} runs on a machine of another byte order", where));
  CallerHello mine{};
  mine.mark = kMark;
  mine.byte_order = kByteOrder;
  mine.caller = caller;
  fill_random(mine.nonce);
  mine.proof = prove(secret, "caller", hub.nonce, mine.nonce, bytes_of_object(caller));
  Verdict verdict{};
  if (!socket.write(mine) || !socket.read(verdict) || verdict.mark != kMark)
    throw Error(errors::not_the_hub, std::errc::connection_aborted,
                fmt::format("the hub at {} ended while this process greeted it", where));
  if (verdict.answer == Answer::wrong_secret)
    throw Error(errors::wrong_secret, std::errc::permission_denied,
                fmt::format("the hub at {} knows another secret than this process: give all "
                            "processes of the job the same VIADUCT_JOB_SECRET",
                            where));
  if (!equal_digests(verdict.proof,
                     prove(secret, "verdict", hub.nonce, mine.nonce, said_in(verdict))))
    throw Error(errors::wrong_secret, std::errc::permission_denied,
                fmt::format("what answers at {} does not know the job's secret", where));
  if (verdict.answer != Answer::welcome)
    throw Error(errors::job_not_begun, std::errc::operation_not_permitted,
                text_of(verdict.sentence));
  const link::Keys keys{prove(secret, "to the hub", hub.nonce, mine.nonce),
                        prove(secret, "from the hub", hub.nonce, mine.nonce)};
  return link::Link(socket.release(), keys);
}

}  // namespace viaduct::handshake
