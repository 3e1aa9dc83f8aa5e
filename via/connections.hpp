#pragma once
/// @file
/// The connections of a NIC: what the NICs of all providers do with their Connector. A provider
/// sends control messages, attaches VIs and ends them; all else about connecting is here.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "via/connector.hpp"
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
    /// @p vi is to take up the end whose offer is in `message.data`, and is connected then.
    virtual void attach(Vi& vi, const ControlMessage& message) = 0;
    /// The request of @p vi has been answered: message.result, reason, cause.
    virtual void refused(Vi& vi, const ControlMessage& message) = 0;
    /// The peer has ended the connection of @p vi: message.cause, data.
    virtual void ended(Vi& vi, const ControlMessage& message) = 0;
    /// Nobody uses the memory `EndWish::half` any more.
    virtual void parted(std::uint64_t half) = 0;
    /// tell_of_requests() has something to do: the rank is not to sleep before.
    virtual void asked() = 0;

   protected:
    ~Provider() = default;
  };

  /// The lower bits of a shape: the reliability level. The provider's own are above.
  static constexpr std::uint32_t kReliabilityMask = 0x7f;

  Connections(Rank self, Provider& provider) noexcept : connector_(self), provider_(provider) {}

  // The owner of each end is a via::Vi. None of these waits; each may allocate.

  /// Asks for a connection. @p name is the end from before the first action.
  /// @return false, and nothing has happened: another end has the name.
  bool open(ControlMessage::Kind form, const EndWish& wish, EndName& name);
  /// Takes the client's request.  Precondition: the VI has attached, and request_of() finds it.
  void accept(const ConnectionRequest& request, const EndWish& wish, EndName& name);
  /// Connector::stop() and close(). Nothing where there is no such end.
  void stop(const EndName& name, ErrorCause cause, std::vector<std::byte> data = {});
  void close(const EndName& name, ErrorCause cause, std::vector<std::byte> data = {});
  /// A message of rank @p from has come.  Order: as @p from has sent them.
  void handle(Rank from, const ControlMessage& message);
  /// Nothing more comes from these ranks, or reaches them.  Cost: grows with all ends.
  void lose(const std::function<bool(Rank)>& gone, ErrorCause cause);

  // The client's calls about requests.

  /// Nic::listen() without waiting.  @return whether there is a request; it has been offered then.
  [[nodiscard]] bool find_request(std::uint64_t discriminator, ConnectionRequest& out);
  /// @return the request, or null: it is gone. Valid until the next event.
  [[nodiscard]] const Connector::Request* request_of(const ConnectionRequest& request) const {
    return connector_.request_of_ticket(request.ticket);
  }
  /// Rejects the request; nothing for null.
  void refuse(const Connector::Request* request, ConnectResult result, std::uint64_t reason = 0);
  /// Tells @p callback of each peer request that has come and not been answered meanwhile. The
  /// callee may make any call of the NIC, so this belongs into Nic::progress() alone.
  void tell_of_requests(const Nic::IncomingPeer& callback);
  [[nodiscard]] bool has_requests() const noexcept { return !offers_.empty(); }

  /// For questions.
  [[nodiscard]] const Connector& connector() const noexcept { return connector_; }

 private:
  void perform(const Connector::Actions& actions);

  Connector connector_;
  Provider& provider_;
  std::vector<EndName> offers_;  // that the client is to be told of
};

}  // namespace viaduct::via
