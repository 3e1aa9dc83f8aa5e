#include "via/connector.hpp"

#include <algorithm>
#include <utility>

namespace viaduct::via {

namespace {

using Kind = ControlMessage::Kind;
using Does = Connector::Action::Kind;
using State = Connector::State;

void send(Connector::Actions& out, Rank to, ControlMessage message) {
  out.push_back({Does::send, {to, 0, EndNumber::none}, 0, std::move(message)});
}

void send_final(Connector::Actions& out, Rank peer, EndNumber to, EndNumber from, ErrorCause cause,
                std::vector<std::byte> data = {}) {
  ControlMessage message;
  message.kind = Kind::final;
  message.from = from;
  message.to = to;
  message.cause = cause;
  message.data = std::move(data);
  send(out, peer, std::move(message));
}

void release(Connector::Actions& out, std::uint64_t half) {
  out.push_back({Does::release, {}, half, {}});
}

/// Made before an event changes anything: takes the memory for the @p most actions that the event
/// may ask for, so that an event whose memory is refused has not happened. At its end, moves the
/// messages among the actions before the others.
class MessagesFirst {
 public:
  MessagesFirst(Connector::Actions& out, std::size_t most) : out_(out), from_(out.size()) {
    out.reserve(from_ + most);
  }
  ~MessagesFirst() {
    std::stable_partition(out_.begin() + static_cast<std::ptrdiff_t>(from_), out_.end(),
                          [](const Connector::Action& a) { return a.kind == Does::send; });
  }
  MessagesFirst(const MessagesFirst&) = delete;
  MessagesFirst& operator=(const MessagesFirst&) = delete;

 private:
  Connector::Actions& out_;
  std::size_t from_;
};

}  // namespace

// Questions.

Connector::Ends::iterator Connector::find(Rank peer, EndNumber number) noexcept {
  auto at = ends_.lower_bound({peer, 0, EndNumber::none});
  while (at != ends_.end() && at->first.peer == peer && at->first.number != number) ++at;
  return at != ends_.end() && at->first.peer == peer ? at : ends_.end();
}

/// The number of actions that one event may ask for: a few of its own, and one for each request
/// that is kept then.
std::size_t Connector::most_actions() const noexcept {
  constexpr std::size_t kOwn = 4;
  return kOwn + requests_.size() + 1;
}

/// The end that is, or was, attached to @p theirs.
Connector::Ends::iterator Connector::attached_to(Rank peer, EndNumber theirs) noexcept {
  auto at = ends_.lower_bound({peer, 0, EndNumber::none});
  while (at != ends_.end() && at->first.peer == peer && at->second.theirs != theirs) ++at;
  return at != ends_.end() && at->first.peer == peer ? at : ends_.end();
}

template <class Wanted>
Connector::Ends::iterator Connector::find_of(Rank peer, std::uint64_t discriminator,
                                             Wanted wanted) {
  for (auto at = ends_.lower_bound({peer, discriminator, EndNumber::none});
       at != ends_.end() && at->first.peer == peer && at->first.discriminator == discriminator;
       ++at)
    if (wanted(at->first, at->second)) return at;
  return ends_.end();
}

void* Connector::owner_of(const Name& name) const noexcept {
  const auto found = ends_.find(name);
  return found == ends_.end() ? nullptr : found->second.owner;
}

State Connector::state_of(const Name& name) const noexcept {
  const auto found = ends_.find(name);
  return found == ends_.end() ? State::draining : found->second.state;
}

bool Connector::is_open(const Name& name) const noexcept { return state_of(name) == State::open; }

bool Connector::may_read(const Name& name) const noexcept {
  return is_open(name) || state_of(name) == State::ended;
}

const Connector::Request* Connector::request_of_peer(Rank from, std::uint64_t discriminator) const {
  for (const Request& r : requests_)
    if (r.from == from && r.message.kind == Kind::request &&
        r.message.discriminator == discriminator)
      return &r;
  return nullptr;
}

const Connector::Request* Connector::request_of_client(std::uint64_t discriminator) const {
  for (const Request& r : requests_)
    if (r.message.kind == Kind::client_request && r.message.discriminator == discriminator &&
        !r.offered)
      return &r;
  return nullptr;
}

const Connector::Request* Connector::request_of_ticket(std::uint64_t ticket) const {
  for (const Request& r : requests_)
    if (r.ticket == ticket) return &r;
  return nullptr;
}

void Connector::mark_offered(std::uint64_t ticket) {
  for (Request& r : requests_)
    if (r.ticket == ticket) r.offered = true;
}

bool Connector::drains_up_to(EndNumber newest) const noexcept {
  const auto is_older = [newest](EndNumber number) {  // the counter may have come round
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(newest) -
                                     static_cast<std::uint32_t>(number)) >= 0;
  };
  return std::any_of(ends_.begin(), ends_.end(), [&](const auto& end) {
    return end.second.state == State::draining && is_older(end.first.number);
  });
}

// The client.

Connector::Name Connector::add(Kind form, const Wish& wish) {
  auto number = static_cast<std::uint32_t>(newest_) + 1;
  if (number == 0) ++number;
  newest_ = EndNumber{number};
  const Name name{wish.peer, wish.discriminator, newest_};
  ends_.emplace(
      name, End{form, State::asking, EndNumber::none, false, wish.shape, wish.half, wish.owner});
  return name;
}

Connector::Name Connector::open(Kind form, const Wish& wish, Actions& out) {
  if (form == Kind::request) {
    int others = 0;
    (void)find_of(wish.peer, wish.discriminator, [&](const Name&, const End& end) {
      if (end.form == Kind::request && (end.state == State::asking || end.state == State::open))
        ++others;
      return false;
    });
    if (others >= (wish.peer == self_ ? 2 : 1)) return {};
  }
  const MessagesFirst order(out, most_actions());
  ControlMessage message;
  message.kind = form;
  message.shape = wish.shape;
  message.discriminator = wish.discriminator;
  message.data = wish.offer;
  const Name name = add(form, wish);
  message.from = name.number;
  send(out, wish.peer, std::move(message));
  if (form == Kind::request) match(wish.peer, wish.discriminator, out);
  return name;
}

Connector::Name Connector::accept(std::uint64_t ticket, const Wish& wish, Actions& out) {
  const auto found = std::find_if(requests_.begin(), requests_.end(),
                                  [ticket](const Request& r) { return r.ticket == ticket; });
  if (found == requests_.end()) return {};
  const MessagesFirst order(out, most_actions());
  ControlMessage message;
  message.kind = Kind::accept;
  message.shape = wish.shape;
  message.data = wish.offer;
  const Name name = add(Kind::accept, wish);
  End& end = ends_.at(name);
  end.state = State::open;
  end.theirs = found->message.from;
  requests_.erase(found);
  message.from = name.number;
  message.to = end.theirs;
  send(out, wish.peer, std::move(message));
  return name;
}

void Connector::reject(const Request& request, ConnectResult result, std::uint64_t reason,
                       Actions& out) {
  ControlMessage message;
  message.kind = Kind::reject;
  message.to = request.message.from;
  message.result = result;
  message.reason = reason;
  send(out, request.from, std::move(message));
}

void Connector::refuse(std::uint64_t ticket, ConnectResult result, std::uint64_t reason,
                       Actions& out) {
  const auto found = std::find_if(requests_.begin(), requests_.end(),
                                  [ticket](const Request& r) { return r.ticket == ticket; });
  if (found == requests_.end()) return;
  out.reserve(out.size() + 1);
  reject(*found, result, reason, out);
  requests_.erase(found);
}

void Connector::stop(const Name& name, ErrorCause cause, Actions& out,
                     std::vector<std::byte> data) {
  const auto at = ends_.find(name);
  if (at == ends_.end()) return;
  End& end = at->second;
  if (end.state != State::open && end.state != State::ended) return;
  if (end.theirs != EndNumber::none)
    send_final(out, name.peer, end.theirs, name.number, cause, std::move(data));
  end.state = State::stopped;
}

void Connector::close(const Name& name, ErrorCause cause, Actions& out,
                      std::vector<std::byte> data) {
  const auto at = ends_.find(name);
  if (at == ends_.end() || at->second.state == State::draining) return;
  const MessagesFirst order(out, most_actions());
  End& end = at->second;
  if (end.state == State::asking) send_final(out, name.peer, EndNumber::none, name.number, cause);
  stop(name, cause, out, std::move(data));
  end.owner = nullptr;
  if (end.state == State::refused) {
    ends_.erase(at);  // its half has been released
  } else if (end.unread) {
    release(out, end.half);
    ends_.erase(at);
  } else {
    end.state = State::draining;
  }
  match(name.peer, name.discriminator, out);
}

// The control path.

/// Looks at the requests with this name that are kept, after anything about them has changed.
///
/// The requests stay while an end of this name that has taken back its request waits for the peer's
/// answer. The end that has sent one of them may have been attached to that end: the message that
/// takes the request back ends it, and the answer says which end it was.
void Connector::match(Rank peer, std::uint64_t discriminator, Actions& out) {
  const auto undecided = [](const Name&, const End& end) {
    return end.form == Kind::request && end.state == State::draining &&
           end.theirs == EndNumber::none;
  };
  if (find_of(peer, discriminator, undecided) != ends_.end()) return;
  for (auto r = requests_.begin(); r != requests_.end();) {
    const ControlMessage& message = r->message;
    if (r->from != peer || message.kind != Kind::request ||
        message.discriminator != discriminator) {
      ++r;
      continue;
    }
    const auto asking = find_of(peer, discriminator, [&](const Name& name, const End& end) {
      return end.form == Kind::request && end.state == State::asking &&
             (peer != self_ || name.number != message.from);
    });
    if (asking != ends_.end() && asking->second.shape == message.shape) {
      asking->second.state = State::open;
      asking->second.theirs = message.from;
      out.push_back({Does::attach, asking->first, 0, std::move(r->message)});
      r = requests_.erase(r);
    } else if (asking != ends_.end()) {  // the peer finds the same with the request of that end
      reject(*r, ConnectResult::mismatch, 0, out);
      r = requests_.erase(r);
    } else {
      const auto in_use = [](const Name&, const End& end) {
        return end.form == Kind::request && end.state != State::asking &&
               end.state != State::refused && end.state != State::draining;
      };
      if (!r->offered && find_of(peer, discriminator, in_use) == ends_.end()) {
        r->offered = true;
        out.push_back({Does::offer, {peer, discriminator, EndNumber::none}, 0, {}});
      }
      ++r;
    }
  }
}

void Connector::handle(Rank from, const ControlMessage& message, Actions& out) {
  const MessagesFirst order(out, most_actions());
  switch (message.kind) {
    case Kind::request:
    case Kind::client_request:
      if (message.from == EndNumber::none) return;
      requests_.push_back({from, message, next_ticket_++, false});
      if (message.kind == Kind::request) match(from, message.discriminator, out);
      return;
    case Kind::accept:
      return handle_accept(from, message, out);
    case Kind::reject:
      if (const auto end = find(from, message.to); end != ends_.end()) {
        ControlMessage why = message;
        why.cause = ErrorCause::connection_lost;  // for an end that is in state open
        now_unread(end, why, out);
      }
      return;
    case Kind::final:
      return handle_final(from, message, out);
    case Kind::none:
    case Kind::ready:
      return;
  }
}

void Connector::handle_accept(Rank from, const ControlMessage& message, Actions& out) {
  const auto at = find(from, message.to);
  if (at == ends_.end() || at->second.state != State::asking ||  // it has taken its request back
      at->second.form != Kind::client_request || at->second.shape != message.shape)
    return send_final(out, from, message.from, EndNumber::none, ErrorCause::disconnected);
  out.push_back({Does::attach, at->first, 0, message});
  at->second.state = State::open;
  at->second.theirs = message.from;
}

void Connector::handle_final(Rank from, const ControlMessage& message, Actions& out) {
  ControlMessage why = message;
  why.result = ConnectResult::unreachable;
  if (message.from != EndNumber::none) last_written(from, message, out);
  if (message.to == EndNumber::none) return;
  if (const auto end = find(from, message.to); end != ends_.end()) now_unread(end, why, out);
}

/// The peer's end message.from has written its last. An end here that is attached to it says, when
/// it is stopped or closed, that it reads no more; where there is no such end, this function says
/// so. An end that took its request back has never written, so there is nothing to be read.
void Connector::last_written(Rank from, const ControlMessage& message, Actions& out) {
  std::erase_if(requests_,
                [&](const Request& r) { return r.from == from && r.message.from == message.from; });
  const auto at = attached_to(from, message.from);
  if (at == ends_.end())
    return send_final(out, from, message.from, EndNumber::none, ErrorCause::disconnected);
  if (at->second.state != State::open) return;
  at->second.state = State::ended;
  if (message.to == EndNumber::none) stop(at->first, message.cause, out);
  out.push_back({Does::ended, at->first, 0, message});
}

/// The peer does not read the half of @p at, and will not.
void Connector::now_unread(Ends::iterator at, const ControlMessage& why, Actions& out) {
  const Name name = at->first;
  End& end = at->second;
  switch (end.state) {
    case State::asking:
      end.state = State::refused;
      out.push_back({Does::refused, name, 0, why});
      release(out, end.half);
      return match(name.peer, name.discriminator, out);
    case State::open:
      end.state = State::ended;
      out.push_back({Does::ended, name, 0, why});
      [[fallthrough]];
    case State::ended:
    case State::stopped:
      end.unread = true;
      return;
    case State::draining:
      release(out, end.half);
      ends_.erase(at);
      return match(name.peer, name.discriminator, out);
    case State::refused:
      return;
  }
}

void Connector::lose(const std::function<bool(Rank)>& gone, ErrorCause cause, Actions& out) {
  std::erase_if(requests_, [&](const Request& r) { return gone(r.from); });
  ControlMessage why;
  why.result = ConnectResult::unreachable;
  why.cause = cause;
  for (auto at = ends_.begin(); at != ends_.end();) {
    const auto here = at++;
    if (!gone(here->first.peer)) continue;
    here->second.theirs = EndNumber::none;  // nothing is to be said to it
    now_unread(here, why, out);
  }
}

}  // namespace viaduct::via
