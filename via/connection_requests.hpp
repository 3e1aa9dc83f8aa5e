#pragma once
/// @file
/// Requests for connections that nobody here has answered yet, for providers.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/types.hpp"

namespace viaduct::via {

/// @tparam Message has `kind` (of an enumeration with `request` and `peer_request`),
/// `discriminator` and `source_vi`. @tparam Extra: what comes with it.
template <class Message, class Extra = std::monostate>
class ConnectionRequests {
  using Kind = decltype(Message::kind);

 public:
  struct Entry {
    Rank from{};
    Message message;
    std::uint64_t ticket = 0;
    bool offered = false;  // listen() has answered with it
    Extra extra;
  };

  /// Keeps a request that has come.  Order: requests are found oldest first.  Throws bad_alloc.
  void add(Rank from, const Message& message, Extra extra = {}) {
    entries_.push_back({from, message, next_ticket_++, false, std::move(extra)});
  }

  // A pointer from one of these is valid until the next change.

  /// @return the oldest request of the client and server form that has not been offered, or null.
  [[nodiscard]] Entry* of_client(std::uint64_t discriminator) noexcept {
    return find([&](const Entry& e) {
      return e.message.kind == Kind::request && e.message.discriminator == discriminator &&
             !e.offered;
    });
  }
  /// @return the request with @p ticket, or null.
  [[nodiscard]] Entry* of_ticket(std::uint64_t ticket) noexcept {
    return find([&](const Entry& e) { return e.ticket == ticket; });
  }
  /// @return the oldest peer-to-peer request of @p from with @p discriminator, or null.
  [[nodiscard]] Entry* of_peer(Rank from, std::uint64_t discriminator) noexcept {
    return find([&](const Entry& e) {
      return e.from == from && e.message.kind == Kind::peer_request &&
             e.message.discriminator == discriminator;
    });
  }

  /// Takes @p entry out.  @return the request.  Precondition: @p entry came from one of the above,
  /// and nothing has changed since.
  Entry take(Entry* entry) {
    Entry taken = std::move(*entry);
    entries_.erase(entries_.begin() + (entry - entries_.data()));
    return taken;
  }
  /// Drops the request of @p from's VI @p source_vi, which that rank has withdrawn.  Never waits.
  void cancel(Rank from, std::uint32_t source_vi) {
    std::erase_if(entries_, [&](const Entry& e) {
      return e.from == from && e.message.source_vi == source_vi;
    });
  }
  /// Drops the requests of all ranks of which @p gone answers true.  Never waits.
  template <class Gone>
  void forget(Gone gone) {
    std::erase_if(entries_, [&](const Entry& e) { return gone(e.from); });
  }

 private:
  template <class Wanted>
  [[nodiscard]] Entry* find(Wanted wanted) noexcept {
    const auto found = std::find_if(entries_.begin(), entries_.end(), wanted);
    return found == entries_.end() ? nullptr : &*found;
  }

  std::vector<Entry> entries_;
  std::uint64_t next_ticket_ = 1;
};

}  // namespace viaduct::via
