#pragma once
/// @file
/// How the connections of a rank come about and end: one state machine for all providers
/// (docs/channel.md, section "Connector").
///
/// A Connector has no memory of its own to share, no clock, no log and no network. Each call is an
/// event; the call appends the actions that the event asks for to the caller's list, and the caller
/// carries them out in their order. A Connector can be copied and compared, so that a test explores
/// the product code itself (tests/model/connector.cpp).
///
/// Each *end* of a connection owns one *half*: memory that the end writes and the peer's end reads.
/// An end owes its peer two words: *has written its last*, and *reads no more of the peer's half*.
/// A final message says the first of its `from` and the second of its `to`. A half is released when
/// its owner has said the first, and the peer the second.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "viaduct/runtime/types.hpp"
#include "viaduct/via/control_message.hpp"
#include "viaduct/via/types.hpp"

namespace viaduct::via {

class Connector {
 public:
  using Name = EndName;

  enum class State : std::uint8_t {
    asking,    // its request is with the peer
    open,      // attached to the peer's end
    ended,     // by the peer; the owner may still read what has come
    stopped,   // neither reads nor writes any more, and has said so
    refused,   // its request was rejected, or the peer is gone
    draining,  // closed; its half may still be read
  };

  struct End {
    ControlMessage::Kind form{};  // how it asked: request, client_request, accept
    State state = State::asking;
    EndNumber theirs = EndNumber::none;  // that it was attached to
    bool unread = false;                 // the peer does not read its half any more
    std::uint32_t shape = 0;
    std::uint64_t half = 0;
    void* owner = nullptr;  // null: closed
    friend bool operator==(const End&, const End&) = default;
  };

  using Wish = EndWish;

  /// A request that this rank has not answered yet.
  struct Request {
    Rank from{};
    ControlMessage message;
    std::uint64_t ticket = 0;
    bool offered = false;  // the client has been told of it
    friend bool operator==(const Request&, const Request&) = default;
  };

  struct Action {
    enum class Kind : std::uint8_t {
      send,     ///< `message` to `name.peer`
      attach,   ///< `name` is open: to message.from, whose offer is message.data
      refused,  ///< tell the owner of `name`: message.result, message.reason, message.cause
      ended,    ///< tell the owner of `name`: message.cause, message.data
      offer,    ///< tell the client that name.peer asks for name.discriminator
      release,  ///< both ends have stopped using the memory `half`
    };
    Kind kind{};
    Name name;
    std::uint64_t half = 0;
    ControlMessage message;
  };
  /// The messages of one event stand first, so that a client which is told of something, and makes
  /// an event of its own there and then, speaks after them.
  using Actions = std::vector<Action>;

  /// @param self the rank whose connections these are.  Never waits.
  explicit Connector(Rank self) noexcept : self_(self) {}

  // Events of the client. They never wait; each may allocate. Their cost grows with the number of
  // ends to the same peer and with the number of unanswered requests, but not with the number of
  // peers.

  /// Asks for a connection, by Kind::request or Kind::client_request; a request that is kept and
  /// fits is taken.
  /// @return the new end. Its number is none, and nothing has happened, when another end of the
  /// same peer and discriminator asks by Kind::request, or is open; within one rank, when two do.
  Name open(ControlMessage::Kind form, const Wish& wish, Actions& out);
  /// Takes the client's request @p ticket.  Precondition: its shape is the wish's, and the caller
  /// has attached.
  /// @return the new end; its number is none when the request is gone.
  Name accept(std::uint64_t ticket, const Wish& wish, Actions& out);
  /// Rejects the request @p ticket of either kind; nothing when it is gone.  Never waits.
  void refuse(std::uint64_t ticket, ConnectResult result, std::uint64_t reason, Actions& out);
  /// The end neither writes nor reads from here on, but keeps its half until close(). Does nothing
  /// unless the end is open or its peer has ended it.  Never waits.
  void stop(const Name& name, ErrorCause cause, Actions& out, std::vector<std::byte> data = {});
  /// As stop(), and for good: the owner forgets the end, in any state.  Never waits.
  void close(const Name& name, ErrorCause cause, Actions& out, std::vector<std::byte> data = {});

  // Events of the control path.

  /// A message of rank @p from has come.  Order: as @p from has sent them.  Errors: throws
  /// std::bad_alloc; nothing has happened then, and the message can be handled once more.
  void handle(Rank from, const ControlMessage& message, Actions& out);
  /// The ranks for which @p gone is true are lost: nothing comes from them or reaches them any
  /// more.  Precondition: later messages of theirs are not handled.  Cost: grows with all ends.
  void lose(const std::function<bool(Rank)>& gone, ErrorCause cause, Actions& out);

  // Questions.

  /// @return the owner of an end that has not been closed, else null.
  [[nodiscard]] void* owner_of(const Name& name) const noexcept;
  /// @return whether the end is attached and neither side has ended it.
  [[nodiscard]] bool is_open(const Name& name) const noexcept;
  /// @return whether the half of the end's peer may still be read.
  [[nodiscard]] bool may_read(const Name& name) const noexcept;
  /// @return the oldest request of Kind::request by @p from, or null. Valid until the next event.
  [[nodiscard]] const Request* request_of_peer(Rank from, std::uint64_t discriminator) const;
  /// @return the oldest of Kind::client_request that mark_offered() has not been called for, or
  /// null.
  [[nodiscard]] const Request* request_of_client(std::uint64_t discriminator) const;
  /// @return the request of either kind, or null when it is gone.
  [[nodiscard]] const Request* request_of_ticket(std::uint64_t ticket) const;
  /// The client has been told of a client's request: request_of_client() passes it over from here
  /// on.  Never waits.
  void mark_offered(std::uint64_t ticket);
  /// @return the number of the end that was made last.
  [[nodiscard]] EndNumber newest() const noexcept { return newest_; }
  /// @return whether an end drains that is not younger than @p newest.  Cost: grows with all ends.
  [[nodiscard]] bool drains_up_to(EndNumber newest) const noexcept;
  /// @return all ends, those that drain included. Valid until the next event.
  [[nodiscard]] const std::map<Name, End>& ends() const noexcept { return ends_; }
  /// @return the unanswered requests, oldest first. Valid until the next event.
  [[nodiscard]] const std::vector<Request>& requests() const noexcept { return requests_; }

  friend bool operator==(const Connector&, const Connector&) = default;

 private:
  using Ends = std::map<Name, End>;

  Name add(ControlMessage::Kind form, const Wish& wish);
  [[nodiscard]] State state_of(const Name& name) const noexcept;
  [[nodiscard]] Ends::iterator find(Rank peer, EndNumber number) noexcept;
  [[nodiscard]] Ends::iterator attached_to(Rank peer, EndNumber theirs) noexcept;
  [[nodiscard]] std::size_t most_actions() const noexcept;
  template <class Wanted>
  [[nodiscard]] Ends::iterator find_of(Rank peer, std::uint64_t discriminator, Wanted wanted);
  void match(Rank peer, std::uint64_t discriminator, Actions& out);
  void handle_accept(Rank from, const ControlMessage& message, Actions& out);
  void handle_final(Rank from, const ControlMessage& message, Actions& out);
  void last_written(Rank from, const ControlMessage& message, Actions& out);
  void now_unread(Ends::iterator end, const ControlMessage& why, Actions& out);
  void reject(const Request& request, ConnectResult result, std::uint64_t reason, Actions& out);

  Rank self_;
  EndNumber newest_ = EndNumber::none;
  std::uint64_t next_ticket_ = 1;
  Ends ends_;
  std::vector<Request> requests_;  // oldest first
};

}  // namespace viaduct::via
