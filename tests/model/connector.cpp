/// Explores all that ranks can do with each other's Connectors: the product code itself, copied and
/// compared, breadth first. Between any two steps of one rank any other rank may take one.
///
///     model_connector ranks=3 opens=3 losses=1 [KEY=VALUE...] [finds=WORD]
///
/// prints the number of states, or the shortest way to a state that breaks a rule. With finds= the
/// rule whose sentence has WORD in it must be broken: so that a search is known to get there.
///
/// What the search compares the Connectors with is what the clients see: each half is allocated
/// until an action releases it, and read from the action that attaches to it until its reader stops
/// or closes. The rules are those of docs/channel.md, section "Connector":
///
///   C1  at most one end of a rank asks or is open for a peer and a discriminator (within one rank:
///       two)
///   C2  each end says once that it has written its last, and writes nothing afterwards
///   C3  a half is released when its owner writes no more and its peer reads no more; nobody
///       attaches to a half that has been released
///   C4  when all messages have been taken, whoever asks waits for a client, and whoever drains
///       waits for one
///   C5  then each open end is attached to an open end that is attached to it; and no two ends are
///       ever attached to one

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "via/connector.hpp"

namespace {

using viaduct::index;
using viaduct::Rank;
using namespace viaduct::via;
using Kind = ControlMessage::Kind;
using Does = Connector::Action::Kind;
using State = Connector::State;

constexpr std::uint32_t kMaxRanks = 3;

struct Options {
  std::uint32_t ranks = 2;
  std::uint32_t opens = 3;    // in all
  std::uint32_t shapes = 1;   // 2: ends that do not fit each other
  std::uint32_t names = 1;    // discriminators
  std::uint32_t stops = 0;    // ends that find an error by themselves
  std::uint32_t losses = 0;   // ranks that die
  std::uint32_t clients = 0;  // 1: requests of the client and server form, too
  std::uint32_t self = 0;     // 1: within one rank, too
  std::uint32_t rejects = 1;  // 0: no client rejects
} g;

/// What the owner of an end sees.
enum class Phase : std::uint8_t { none, asking, connected, ended, refused, closed };

struct Truth {
  Phase phase = Phase::none;
  bool allocated = false;
  bool stopped = false;
  bool reads = false;  // the half of its peer's end `theirs`
  std::uint8_t theirs = 0;
  std::uint8_t last_words = 0;
  Connector::Name name;

  [[nodiscard]] bool is_held() const { return phase != Phase::none && phase != Phase::closed; }
};

struct World {
  std::vector<Connector> at;
  std::vector<std::vector<Truth>> truth;           // by rank, by number
  std::vector<std::deque<ControlMessage>> queues;  // from * ranks + to
  std::uint32_t opens = 0, stops = 0, losses = 0;
  std::array<bool, kMaxRanks> dead{};
  std::array<std::array<bool, kMaxRanks>, kMaxRanks> lost{};  // [who has noticed][who is dead]

  World() {
    for (std::uint32_t r = 0; r < g.ranks; ++r) at.emplace_back(Rank{r});
    truth.resize(g.ranks);
    queues.resize(std::size_t{g.ranks} * g.ranks);
  }
  [[nodiscard]] std::deque<ControlMessage>& queue(std::uint32_t from, std::uint32_t to) {
    return queues[std::size_t{from} * g.ranks + to];
  }
  [[nodiscard]] Truth* find(std::uint32_t rank, EndNumber number) {
    const auto n = static_cast<std::uint32_t>(number);
    return n < truth[rank].size() && truth[rank][n].phase != Phase::none ? &truth[rank][n]
                                                                         : nullptr;
  }
};

struct Broken {
  std::string rule;
};
void require(bool holds, const char* rule) {
  if (!holds) throw Broken{rule};
}

std::uint8_t small(EndNumber number) { return static_cast<std::uint8_t>(number); }

/// Nobody but the owner of a half may have any use for it when it is released.
void check_release(World& w, std::uint32_t rank, std::uint64_t half) {
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

/// Those that hold when every message has been taken, and every loss been noticed.
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

// The search.

/// Everything of a world that has to do with what may happen later. Tickets only name requests.
std::string key_of(World& w) {
  std::string key;
  const auto put = [&key](auto value) { key.push_back(static_cast<char>(value)); };
  const auto put_message = [&](const ControlMessage& m) {
    put(m.kind), put(m.from), put(m.to), put(m.shape), put(m.discriminator), put(m.result);
  };
  put(w.opens), put(w.stops), put(w.losses);
  for (std::uint32_t r = 0; r < g.ranks; ++r) {
    put(w.dead[r]);
    for (const bool noticed : w.lost[r]) put(noticed);
    put(w.at[r].newest()), put(w.at[r].ends().size()), put(w.at[r].requests().size());
    for (const auto& [name, e] : w.at[r].ends()) {
      put(name.peer), put(name.discriminator), put(name.number), put(e.form), put(e.state);
      put(e.theirs), put(e.unread), put(e.shape);
    }
    for (const Connector::Request& q : w.at[r].requests())
      put(q.from), put(q.offered), put_message(q.message);
    put(w.truth[r].size());
    for (const Truth& t : w.truth[r]) {
      put(t.phase), put(t.allocated), put(t.stopped), put(t.reads), put(t.theirs);
      put(t.last_words);
    }
  }
  for (const auto& queue : w.queues) {
    put(queue.size());
    for (const ControlMessage& m : queue) put_message(m);
  }
  return key;
}

struct Hash {
  std::uint64_t low, high;
  friend bool operator==(const Hash&, const Hash&) = default;
};
struct HashOfHash {
  std::size_t operator()(const Hash& h) const { return h.low; }
};
/// 128 bits: two of a million states have one hash with a chance of 1e-27.
Hash hash_of(const std::string& key) {
  Hash h{0x9E3779B97F4A7C15ULL, 0xC2B2AE3D27D4EB4FULL};
  for (const char c : key) {
    const auto byte = static_cast<std::uint8_t>(c);
    h.low = (h.low ^ byte) * 0x100000001B3ULL;
    h.low ^= h.low >> 29;
    h.high = (h.high + byte + 1) * 0xD6E8FEB86659FD93ULL;
    h.high ^= h.high >> 32;
  }
  return h;
}

struct Node {
  std::size_t before;
  std::string step;
};

class Search {
 public:
  /// Empty: every rule holds everywhere.
  std::string run() {
    World start;
    add(start, 0, "start");
    while (!frontier_.empty() && broken_.empty()) {
      World w = std::move(frontier_.front());
      frontier_.pop_front();
      now_ = next_++;
      expand(w);
    }
    return broken_;
  }
  [[nodiscard]] std::size_t states() const { return nodes_.size(); }
  void print_way() const {
    std::vector<std::string> steps;
    for (std::size_t at = last_; at != 0; at = nodes_[at].before) steps.push_back(nodes_[at].step);
    for (std::size_t i = steps.size(); i-- > 0;) std::printf("  %s\n", steps[i].c_str());
  }

 private:
  void add(World& w, std::size_t before, std::string step) {
    if (!seen_.insert(hash_of(key_of(w))).second) return;
    nodes_.push_back({before, std::move(step)});
    frontier_.push_back(w);
  }

  /// One step from @p w: change() answers whether it can be taken.
  template <class Change>
  void step(const World& w, std::string what, Change change) {
    if (!broken_.empty()) return;
    World next = w;
    try {
      if (!change(next)) return;
      check_always(next);
      check_quiet(next);
      add(next, now_, std::move(what));
    } catch (const Broken& broken) {
      broken_ = broken.rule;
      nodes_.push_back({now_, std::move(what)});
      last_ = nodes_.size() - 1;
    }
  }

  void expand(const World& w) {
    for (std::uint32_t r = 0; r < g.ranks; ++r) {
      if (w.dead[r]) continue;
      for (std::uint32_t p = 0; p < g.ranks; ++p) {
        if (p != r || g.self != 0) opens(w, r, p);
        deliver(w, p, r);
        if (w.dead[p] && !w.lost[r][p])
          step(w, says(r, "notices that", p) + " is lost", [=](World& n) {
            n.lost[r][p] = true;
            n.queue(p, r).clear();
            Connector::Actions actions;
            n.at[r].lose([p](Rank rank) { return index(rank) == p; }, ErrorCause::connection_lost,
                         actions);
            carry_out(n, r, actions);
            return true;
          });
      }
      ends(w, r);
      answers(w, r);
      if (w.losses < g.losses)
        step(w, "rank " + std::to_string(r) + " dies", [=](World& n) {
          ++n.losses;
          n.dead[r] = true;
          for (std::uint32_t p = 0; p < g.ranks; ++p) n.queue(p, r).clear();
          return true;
        });
    }
  }

  void opens(const World& w, std::uint32_t r, std::uint32_t p) {
    if (w.opens == g.opens || w.lost[r][p]) return;
    for (std::uint32_t shape = 0; shape < g.shapes; ++shape)
      for (std::uint32_t name = 0; name < g.names; ++name) {
        const std::string which =
            " (name " + std::to_string(name) + ", shape " + std::to_string(shape) + ")";
        step(w, says(r, "opens to", p) + which,
             [=](World& n) { return open(n, r, p, name, shape, Kind::request); });
        if (g.clients != 0)
          step(w, says(r, "asks as a client", p) + which,
               [=](World& n) { return open(n, r, p, name, shape, Kind::client_request); });
      }
  }

  void deliver(const World& w, std::uint32_t from, std::uint32_t to) {
    step(w, says(to, "takes a message of", from), [=](World& n) {
      auto& queue = n.queue(from, to);
      if (queue.empty()) return false;
      const ControlMessage message = std::move(queue.front());
      queue.pop_front();
      Connector::Actions actions;
      n.at[to].handle(Rank{from}, message, actions);
      carry_out(n, to, actions);
      return true;
    });
  }

  /// What the owners of ends do.
  void ends(const World& w, std::uint32_t r) {
    for (std::size_t i = 0; i < w.truth[r].size(); ++i) {
      const Truth& end = w.truth[r][i];
      if (!end.is_held()) continue;
      const std::string name = "rank " + std::to_string(r) + ", end " + std::to_string(i);
      step(w, name + ": close", [=](World& n) {
        Truth& mine = n.truth[r][i];
        mine.phase = Phase::closed;
        mine.reads = false;
        Connector::Actions actions;
        const bool refused = end.phase == Phase::refused;
        if (refused) require(!mine.allocated, "C3: a half of a refused end is kept");
        n.at[r].close(mine.name, ErrorCause::disconnected, actions);
        carry_out(n, r, actions);
        return true;
      });
      if ((end.phase == Phase::connected || end.phase == Phase::ended) && !end.stopped &&
          w.stops < g.stops)
        step(w, name + ": stop", [=](World& n) {
          Truth& mine = n.truth[r][i];
          ++n.stops;
          mine.stopped = true;
          mine.reads = false;
          mine.phase = Phase::ended;
          Connector::Actions actions;
          n.at[r].stop(mine.name, ErrorCause::format, actions);
          carry_out(n, r, actions);
          return true;
        });
    }
  }

  void answers(const World& w, std::uint32_t r) {
    for (std::size_t i = 0; i < w.at[r].requests().size(); ++i) {
      const Connector::Request& request = w.at[r].requests()[i];
      if (request.message.kind == Kind::client_request)
        step(w, says(r, "accepts", index(request.from)), [=](World& n) {
          accept(n, r, n.at[r].requests()[i]);
          return true;
        });
      if (g.rejects != 0 && (request.message.kind == Kind::client_request || request.offered))
        step(w, says(r, "rejects", index(request.from)), [=](World& n) {
          Connector::Actions actions;
          n.at[r].refuse(n.at[r].requests()[i].ticket, ConnectResult::rejected, 0, actions);
          carry_out(n, r, actions);
          return true;
        });
    }
  }

  static std::string says(std::uint32_t r, const char* what, std::uint32_t p) {
    return "rank " + std::to_string(r) + " " + what + " rank " + std::to_string(p);
  }

  std::unordered_set<Hash, HashOfHash> seen_;
  std::deque<World> frontier_;
  std::vector<Node> nodes_;
  std::size_t now_ = 0, next_ = 0, last_ = 0;
  std::string broken_;
};

bool set_option(std::string_view text) {
  const std::pair<const char*, std::uint32_t*> options[] = {
      {"ranks", &g.ranks},     {"opens", &g.opens}, {"shapes", &g.shapes},
      {"names", &g.names},     {"stops", &g.stops}, {"losses", &g.losses},
      {"clients", &g.clients}, {"self", &g.self},   {"rejects", &g.rejects}};
  const std::size_t equal = text.find('=');
  if (equal == std::string_view::npos) return false;
  for (const auto& [name, value] : options)
    if (text.substr(0, equal) == name) {
      *value = static_cast<std::uint32_t>(std::atoi(std::string(text.substr(equal + 1)).c_str()));
      return true;
    }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  std::string wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    if (text.starts_with("finds="))
      wanted = text.substr(6);
    else if (!set_option(text))
      return std::printf("no such option: %s\n", argv[i]), 2;
  }
  if (g.ranks == 0 || g.ranks > kMaxRanks) return std::printf("1 to 3 ranks\n"), 2;
  Search search;
  const std::string broken = search.run();
  std::printf("%zu states\n", search.states());
  if (!broken.empty()) {
    std::printf("%s, after\n", broken.c_str());
    search.print_way();
  }
  if (!wanted.empty()) return broken.find(wanted) != std::string::npos ? 0 : 1;
  return broken.empty() ? 0 : 1;
}
