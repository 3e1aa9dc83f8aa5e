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

/// Passes an event to the Connector, and performs the actions that it asks for.
template <class Event>
void Connections::tell(Event&& event) {
  Connector::Actions actions;
  event(actions);
  perform(actions);
}

void Connections::stop(const EndName& name, ErrorCause cause, std::vector<std::byte> data) {
  tell([&](auto& actions) { connector_.stop(name, cause, actions, std::move(data)); });
}

void Connections::close(const EndName& name, ErrorCause cause, std::vector<std::byte> data) {
  tell([&](auto& actions) { connector_.close(name, cause, actions, std::move(data)); });
}

void Connections::handle(Rank from, const ControlMessage& message) {
  offers_.reserve(offers_.size() + connector_.requests().size() + 1);
  tell([&](auto& actions) { connector_.handle(from, message, actions); });
}

void Connections::lose(const std::function<bool(Rank)>& gone, ErrorCause cause) {
  tell([&](auto& actions) { connector_.lose(gone, cause, actions); });
}

/// Owners are looked up for each action: an earlier one may have closed an end.
void Connections::perform(const Connector::Actions& actions) {
  using Does = Connector::Action::Kind;
  for (const Connector::Action& action : actions) {
    auto* const end = static_cast<Connectable*>(connector_.owner_of(action.name));
    switch (action.kind) {
      case Does::send:
        provider_.post(action.name.peer, action.message);
        break;
      case Does::attach:
        if (end != nullptr) provider_.attach(*end, action.message);
        break;
      case Does::refused:
        if (end != nullptr) provider_.refused(*end, action.message);
        break;
      case Does::ended:
        if (end != nullptr) provider_.ended(*end, action.message);
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

Status Connections::listen(std::uint64_t discriminator, ConnectionRequest& out,
                           const Wait& progress_until) {
  const auto look = [&] { return find_request(discriminator, out); };
  return progress_until(look) ? Status::ok : Status::timeout;
}

Status Connections::accept(const ConnectionRequest& request, bool lost, const Acceptor& vi) {
  const Connector::Request* const found = connector_.request_of_ticket(request.ticket);
  if (vi.state != ViState::idle) return Status::bad_state;
  if (lost) return Status::peer_lost;
  if (found == nullptr) return Status::bad_argument;
  if (found->message.shape != vi.shape) {
    refuse(found, ConnectResult::mismatch);
    return Status::bad_argument;
  }
  const EndWish wish = vi.wish();
  if (!vi.attach(found->message.data)) {
    refuse(found, ConnectResult::unreachable);
    return Status::peer_lost;
  }
  tell([&](auto& actions) { vi.name = connector_.accept(request.ticket, wish, actions); });
  return Status::ok;
}

void Connections::reject(const ConnectionRequest& request) {
  refuse(connector_.request_of_ticket(request.ticket), ConnectResult::rejected);
}

void Connections::reject_peer(Rank from, std::uint64_t discriminator, std::uint64_t reason) {
  refuse(connector_.request_of_peer(from, discriminator), ConnectResult::rejected, reason);
}

/// Whether there is a request; it has been offered then.
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

/// Does nothing for null.
void Connections::refuse(const Connector::Request* request, ConnectResult result,
                         std::uint64_t reason) {
  if (request == nullptr) return;
  tell([&](auto& actions) { connector_.refuse(request->ticket, result, reason, actions); });
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
