#include "via/connections.hpp"

#include <utility>

namespace viaduct::via {

bool Connections::open(ControlMessage::Kind form, const EndWish& wish, EndName& name) {
  Connector::Actions actions;
  const EndName made = connector_.open(form, wish, actions);
  if (made.number == EndNumber::none) return false;
  name = made;
  perform(actions);
  return true;
}

void Connections::accept(const ConnectionRequest& request, const EndWish& wish, EndName& name) {
  Connector::Actions actions;
  name = connector_.accept(request.ticket, wish, actions);
  perform(actions);
}

void Connections::stop(const EndName& name, ErrorCause cause, std::vector<std::byte> data) {
  Connector::Actions actions;
  connector_.stop(name, cause, actions, std::move(data));
  perform(actions);
}

void Connections::close(const EndName& name, ErrorCause cause, std::vector<std::byte> data) {
  Connector::Actions actions;
  connector_.close(name, cause, actions, std::move(data));
  perform(actions);
}

void Connections::handle(Rank from, const ControlMessage& message) {
  Connector::Actions actions;
  connector_.handle(from, message, actions);
  perform(actions);
}

void Connections::lose(const std::function<bool(Rank)>& gone, ErrorCause cause) {
  Connector::Actions actions;
  connector_.lose(gone, cause, actions);
  perform(actions);
}

/// Owners are looked up for each action: an earlier one may have closed an end.
void Connections::perform(const Connector::Actions& actions) {
  using Does = Connector::Action::Kind;
  for (const Connector::Action& action : actions) {
    Vi* const vi = static_cast<Vi*>(connector_.owner_of(action.name));
    switch (action.kind) {
      case Does::send:
        provider_.post(action.name.peer, action.message);
        break;
      case Does::attach:
        if (vi != nullptr) provider_.attach(*vi, action.message);
        break;
      case Does::refused:
        if (vi != nullptr) provider_.refused(*vi, action.message);
        break;
      case Does::ended:
        if (vi != nullptr) provider_.ended(*vi, action.message);
        break;
      case Does::offer:  // later, since this may be the middle of a call of the client's
        offers_.push_back(action.name);
        provider_.asked();
        break;
      case Does::release:
        provider_.parted(action.half);
        break;
    }
  }
}

bool Connections::find_request(std::uint64_t discriminator, ConnectionRequest& out) {
  const Connector::Request* const found = connector_.request_of_client(discriminator);
  if (found == nullptr) return false;
  out.from = found->from;
  out.discriminator = discriminator;
  out.reliability = static_cast<Reliability>(found->message.shape & kReliabilityMask);
  out.ticket = found->ticket;
  connector_.mark_offered(out.ticket);
  return true;
}

void Connections::refuse(const Connector::Request* request, ConnectResult result,
                         std::uint64_t reason) {
  if (request == nullptr) return;
  Connector::Actions actions;
  connector_.refuse(request->ticket, result, reason, actions);
  perform(actions);
}

void Connections::tell_of_requests(const Nic::IncomingPeer& callback) {
  while (!offers_.empty()) {
    const EndName name = offers_.front();
    offers_.erase(offers_.begin());
    const bool there = connector_.request_of_peer(name.peer, name.discriminator) != nullptr;
    if (there && callback) callback(name.peer, name.discriminator);
  }
}

}  // namespace viaduct::via
