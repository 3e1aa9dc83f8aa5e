#pragma once
/// @file
/// The hub's listening side: lets in callers that know the secret, and moves frames. The owner
/// knows the meaning of frames.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/src/handshake.hpp"
#include "runtime/src/link.hpp"

namespace viaduct {

class LinkServer {
 public:
  using Id = std::uint64_t;

  /// Called from within turn(). All calls to the server are allowed there.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// Empty, or why this caller, which has proved that it belongs to the job, may not come in.
    virtual std::string admit(const handshake::Caller& caller) = 0;
    virtual void joined(Id id, const handshake::Caller& caller) = 0;
    virtual void received(Id id, link::Frame&& frame) = 0;
    /// The connection has ended, by its peer or (@p complaint) because of the bytes that came.
    virtual void ended(Id id, const std::string& complaint) = 0;
    virtual void wrong_secret() = 0;
  };

  /// @p expected: how many may come at once; many more that have proved nothing yet are not kept.
  /// Throws Error.
  LinkServer(FileDescriptor listener, std::string secret, Owner& owner, std::size_t expected);
  LinkServer(const LinkServer&) = delete;
  LinkServer& operator=(const LinkServer&) = delete;

  /// Becomes readable when turn() has something to do.
  [[nodiscard]] int fd() const noexcept { return epoll_.get(); }
  /// Does all work that needs no waiting.
  void turn();

  void send(Id id, const link::Frame& frame);
  /// No ended() follows.
  void close(Id id);
  [[nodiscard]] bool is_open(Id id) const;
  /// Connections that have proved nothing yet.
  [[nodiscard]] std::size_t unauthenticated() const noexcept;
  /// Gives all that is queued until @p limit to leave.
  void flush_until(link::Clock::time_point limit);

 private:
  struct Connection {
    FileDescriptor socket;  // until the link has it
    std::unique_ptr<handshake::Greeting> greeting;
    handshake::CallerHello hello{};
    std::size_t hello_bytes = 0;
    link::Link link;
    bool listens_for_room = false;
    bool closed = false;
  };
  void listen(bool on);
  void accept_all();
  void greet(Id id, Connection& connection);
  void judge(Id id, Connection& connection);
  void serve(Id id, Connection& connection);
  void watch_room(Id id, Connection& connection);
  void drop_closed();
  bool drop_oldest_unauthenticated();

  FileDescriptor listener_;
  FileDescriptor epoll_;
  FileDescriptor pause_;  // readable when a pause in accepting is over
  std::string secret_;
  Owner& owner_;
  std::size_t most_unauthenticated_;
  Id last_id_ = 0;
  std::map<Id, Connection> connections_;
};

}  // namespace viaduct
