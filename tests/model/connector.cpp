/// Explores all that ranks can do with each other's Connectors: the product code itself, copied and
/// compared, breadth first. Between any two steps of one rank any other rank may take one.
///
///     model_connector ranks=3 opens=3 losses=1 [KEY=VALUE...] [finds=WORD]
///
/// prints the number of states, or the shortest way to a state that breaks a rule. With finds= the
/// rule whose sentence has WORD in it must be broken: so that a search is known to get there.
///
/// The rules, and what a Connector is compared with: connector_world.hpp.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tests/model/connector_world.hpp"

namespace {

using namespace connector_model;

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
