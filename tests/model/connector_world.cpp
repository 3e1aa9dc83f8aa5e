#include "tests/model/connector_world.hpp"

#include <algorithm>
#include <utility>

namespace connector_model {

void require(bool holds, const char* rule) {
  if (!holds) throw Broken{rule};
}

std::uint8_t small(EndNumber number) { return static_cast<std::uint8_t>(number); }

/// Nobody but the owner of a half may have any use for it when it is released.
static void check_release(World& w, std::uint32_t rank, std::uint64_t half) {
  Truth& mine = *w.find(rank, EndNumber{static_cast<std::uint32_t>(half)});
  require(mine.allocated, "C3: a half is released twice");
  require(mine.phase == Phase::closed || mine.phase == Phase::refused,
          "C3: a half is released while its owner may write");
  const std::uint32_t peer = index(mine.name.peer);
  if (!w.dead[peer])
    for (const Truth& other : w.truth[peer])
      require(!other.reads || index(other.name.peer) != rank || other.theirs != half,
              "C3: a half is released while it is read");
  if (mine.phase == Phase::closed && !w.dead[peer])
    require(mine.last_words == 1, "C2: a half is released without its owner's last word");
  mine.allocated = false;
}

void carry_out(World& w, std::uint32_t rank, const Connector::Actions& actions) {
  for (const Connector::Action& a : actions) {
    const std::uint32_t peer = index(a.name.peer);
    Truth* const mine = w.find(rank, a.name.number);
    switch (a.kind) {
      case Does::send:
        if (a.message.kind == Kind::final && a.message.from != EndNumber::none) {
          Truth& end = *w.find(rank, a.message.from);
          require(++end.last_words == 1, "C2: an end says twice that it has written its last");
        }
        if (!w.dead[peer]) w.queue(rank, peer).push_back(a.message);
        break;
      case Does::attach: {
        require(mine != nullptr && mine->phase == Phase::asking,
                "an end is attached that asks not");
        const Truth* const theirs = w.find(peer, a.message.from);
        require(w.dead[peer] || (theirs != nullptr && theirs->allocated),
                "C3: an end is attached to a half that has been released");
        mine->phase = Phase::connected;
        mine->reads = true;
        mine->theirs = small(a.message.from);
        break;
      }
      case Does::refused:
        require(mine != nullptr && mine->phase == Phase::asking, "an end is refused that asks not");
        mine->phase = Phase::refused;
        break;
      case Does::ended:
        require(mine != nullptr && mine->phase == Phase::connected, "an end ends that is not open");
        mine->phase = Phase::ended;
        if (!w.at[rank].may_read(a.name)) mine->reads = false;
        break;
      case Does::offer:
        require(w.at[rank].request_of_peer(a.name.peer, a.name.discriminator) != nullptr,
                "a request is offered that is not kept");
        break;
      case Does::release:
        check_release(w, rank, a.half);
        break;
    }
  }
  for (Truth& end : w.truth[rank])  // what is over looks the same, however it went
    if (end.phase == Phase::closed && !end.allocated) {
      end = Truth{};
      end.phase = Phase::closed;
    }
}

Truth& note_end(World& w, std::uint32_t rank, const Connector::Name& name) {
  std::vector<Truth>& ends = w.truth[rank];
  const auto number = static_cast<std::uint32_t>(name.number);
  if (ends.size() <= number) ends.resize(number + 1);
  Truth& end = ends[number];
  end.phase = Phase::asking;
  end.allocated = true;
  end.name = name;
  return end;
}

Connector::Wish wish_of(World& w, std::uint32_t rank, std::uint32_t peer, std::uint64_t name,
                        std::uint32_t shape) {
  Connector::Wish wish;
  wish.peer = Rank{peer};
  wish.discriminator = name;
  wish.shape = shape;
  wish.half = static_cast<std::uint32_t>(w.at[rank].newest()) + 1;  // the number that it will have
  return wish;
}

bool open(World& w, std::uint32_t rank, std::uint32_t peer, std::uint64_t name, std::uint32_t shape,
          Kind form) {
  Connector::Actions actions;
  const auto made = w.at[rank].open(form, wish_of(w, rank, peer, name, shape), actions);
  if (made.number == EndNumber::none) return false;
  ++w.opens;
  note_end(w, rank, made);
  carry_out(w, rank, actions);
  return true;
}

void accept(World& w, std::uint32_t rank, const Connector::Request& request) {
  const Connector::Request taken = request;
  Connector::Actions actions;
  const auto wish =
      wish_of(w, rank, index(taken.from), taken.message.discriminator, taken.message.shape);
  const auto made = w.at[rank].accept(taken.ticket, wish, actions);
  Truth& end = note_end(w, rank, made);
  const Truth* const theirs = w.find(index(taken.from), taken.message.from);
  require(w.dead[index(taken.from)] || (theirs != nullptr && theirs->allocated),
          "C3: an end is attached to a half that has been released");
  end.phase = Phase::connected;
  end.reads = true;
  end.theirs = small(taken.message.from);
  carry_out(w, rank, actions);
}

// The rules that hold between any two steps.

void check_always(World& w) {
  for (std::uint32_t r = 0; r < g.ranks; ++r) {
    if (w.dead[r]) continue;
    for (const auto& [name, end] : w.at[r].ends()) {
      const bool live = end.state == State::asking || end.state == State::open;
      std::uint32_t others = 0;
      for (const auto& [n, e] : w.at[r].ends())
        if (e.form == Kind::request && n.peer == name.peer &&
            n.discriminator == name.discriminator &&
            (e.state == State::asking || e.state == State::open))
          ++others;
      require(end.form != Kind::request || !live || others <= (index(name.peer) == r ? 2U : 1U),
              "C1: two ends ask or are open for one name");
      if (end.theirs == EndNumber::none || w.dead[index(name.peer)]) continue;
      for (const auto& [n, e] : w.at[index(name.peer)].ends())
        if (index(n.peer) == r && n.number == end.theirs)
          require(e.theirs == EndNumber::none || e.theirs == name.number,
                  "C5: two ends are attached to one");
    }
  }
}

void check_quiet(World& w) {
  for (std::uint32_t r = 0; r < g.ranks; ++r) {
    if (w.dead[r]) continue;
    for (std::uint32_t other = 0; other < g.ranks; ++other) {
      if (w.dead[other] && !w.lost[r][other]) return;
      if (!w.queue(other, r).empty()) return;
    }
  }
  for (std::uint32_t r = 0; r < g.ranks; ++r) {
    if (w.dead[r]) continue;
    for (const auto& [name, end] : w.at[r].ends()) {
      const std::uint32_t p = index(name.peer);
      const Connector& there = w.at[p];
      if (w.dead[p]) {
        require(
            end.state != State::asking && end.state != State::open && end.state != State::draining,
            "C4: an end waits for a rank that is lost");
        continue;
      }
      const Connector::Request* kept = nullptr;
      for (const Connector::Request& q : there.requests())
        if (index(q.from) == r && q.message.from == name.number) kept = &q;
      require(kept == nullptr || end.state == State::asking,
              "C4: a request is kept of who asks not");
      const Connector::End* attached = nullptr;
      bool old_end = false;
      bool asks_too = false;
      for (const auto& [n, e] : there.ends()) {
        if (index(n.peer) != r) continue;
        if (e.theirs == name.number) attached = &e;
        if (n.discriminator != name.discriminator || e.form != Kind::request ||
            (p == r && n.number == name.number))
          continue;
        old_end = old_end || e.state == State::open || e.state == State::ended ||
                  e.state == State::stopped;
        asks_too = asks_too || e.state == State::asking;
      }
      if (end.state == State::asking)
        require(kept != nullptr &&
                    (end.form == Kind::client_request || ((kept->offered || old_end) && !asks_too)),
                "C4: an end asks for ever");
      if (end.state == State::draining)
        require(attached != nullptr && attached->state == State::ended,
                "C4: an end drains for ever");
      if (end.state == State::open)
        require(attached != nullptr && attached->state == State::open,
                "C5: an end is open whose peer is not");
    }
  }
}

}  // namespace connector_model
