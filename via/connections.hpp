#pragma once
/// @file
/// The connections of a NIC: the part that the NICs of all providers share, around their
/// Connector. A provider sends control messages, attaches VIs and ends them; all else about
/// connecting is here.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "via/connector.hpp"
#include "viaduct/via/connectable.hpp"
#include "viaduct/via/nic.hpp"

namespace viaduct::via {

class Connections {
 public:
  /// The provider's part. Calls come from within calls of Connections, in the order in which the
  /// Connector asks for them.
  class Provider {
   public:
    Provider() = default;
    Provider(const Provider&) = delete;
    Provider& operator=(const Provider&) = delete;
    /// Sends @p message, behind all earlier ones to @p to.
    virtual void post(Rank to, const ControlMessage& message) = 0;
    /// @p end is to take up the peer's end whose offer is in `message.data`, and is connected then.
    virtual void attach(Connectable& end, const ControlMessage& message) = 0;
    /// The request of @p end has been answered: message.result, reason, cause.
    virtual void refused(Connectable& end, const ControlMessage& message) = 0;
    /// The peer has ended the connection of @p end: message.cause, data.
    virtual void ended(Connectable& end, const ControlMessage& message) = 0;
    /// Both ends have stopped using the memory `EndWish::half`.
    virtual void parted(std::uint64_t half) = 0;
    /// tell_of_requests() has requests to tell of: the rank must not sleep before that call.
    virtual void asked() = 0;

   protected:
    ~Provider() = default;
  };

  /// The lower bits of a shape: the reliability level. The provider's own are above.
  static constexpr std::uint32_t kReliabilityMask = 0x7f;

  Connections(Rank self, Provider& provider) noexcept : connector_(self), provider_(provider) {}

  // The owner of each end is a Connectable. These calls never wait; each may allocate.

  /// Asks for a connection. @p name is the end from before the first action.
  /// @return false, and nothing has happened: another end has the name.
  bool open(ControlMessage::Kind form, const EndWish& wish, EndName& name);
  /// Connector::stop() and close(). They do nothing where there is no such end.
  void stop(const EndName& name, ErrorCause cause, std::vector<std::byte> data = {});
  void close(const EndName& name, ErrorCause cause, std::vector<std::byte> data = {});
  /// A message of rank @p from has come.  Order: as @p from has sent them.  Errors: as
  /// Connector::handle(), as long as the provider takes memory before that call for what it posts.
  void handle(Rank from, const ControlMessage& message);
  /// Nothing more comes from these ranks, or reaches them.  Cost: grows with all ends.
  void lose(const std::function<bool(Rank)>& gone, ErrorCause cause);

  // The client's calls about requests.

  /// Nic::listen(). @p progress_until makes progress until the function that it is given answers
  /// true; it answers false when the time is over before.  @return ok or timeout.
  using Wait = std::function<bool(const std::function<bool()>&)>;
  Status listen(std::uint64_t discriminator, ConnectionRequest& out, const Wait& progress_until);
  /// The VI that is to take a request.
  struct Acceptor {
    ViState state;
    std::uint32_t shape;
    EndName& name;                  ///< of its end, once the request is taken
    std::function<EndWish()> wish;  ///< what open() would be given
    /// Takes up the end whose offer the bytes are.  @return false: it is out of reach.
    std::function<bool(const std::vector<std::byte>&)> attach;
  };
  /// Nic::accept(). Order: @p vi attaches before the client hears of it.
  /// @return ok; bad_state: the VI is not idle; peer_lost: the rank that asks is @p lost, or out of
  /// reach; bad_argument: the request is gone, or the shapes differ.
  Status accept(const ConnectionRequest& request, bool lost, const Acceptor& vi);
  /// Nic::reject() and reject_peer(). They do nothing where the request is gone.
  void reject(const ConnectionRequest& request);
  void reject_peer(Rank from, std::uint64_t discriminator, std::uint64_t reason = 0);
  /// Tells @p callback of each peer request that has come and not been answered meanwhile. The
  /// callee may make any call of the NIC, so this belongs into Nic::progress() alone.
  void tell_of_requests(const Nic::IncomingPeer& callback);
  [[nodiscard]] bool has_requests() const noexcept { return !offers_.empty(); }

  /// The Connector, for questions about ends and requests.
  [[nodiscard]] const Connector& connector() const noexcept { return connector_; }

 private:
  template <class Event>
  void tell(Event&& event);
  void perform(const Connector::Actions& actions);
  [[nodiscard]] bool find_request(std::uint64_t discriminator, ConnectionRequest& out);
  void refuse(const Connector::Request* request, ConnectResult result, std::uint64_t reason = 0);

  Connector connector_;
  Provider& provider_;
  std::vector<EndName> offers_;  // that the client is to be told of
};

}  // namespace viaduct::via
