#pragma once
/// @file
/// The world that the search of model_connector explores: ranks with their Connectors, the messages
/// between them, and what the clients see. Its functions stop at a broken rule.
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
#include <deque>
#include <string>
#include <vector>

#include "via/connector.hpp"

namespace connector_model {

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
};
inline Options g;

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
/// Throws Broken.
void require(bool holds, const char* rule);
[[nodiscard]] std::uint8_t small(EndNumber number);
/// What a provider does with the actions of rank @p rank's Connector.
void carry_out(World& w, std::uint32_t rank, const Connector::Actions& actions);
/// The truth about an end that the Connector has just made.
Truth& note_end(World& w, std::uint32_t rank, const Connector::Name& name);
/// Asks for a connection.  @return false: another end has the name.
bool open(World& w, std::uint32_t rank, std::uint32_t peer, std::uint64_t name, std::uint32_t shape,
          Kind form);
/// A server takes the request.
void accept(World& w, std::uint32_t rank, const Connector::Request& request);
/// The rules that hold after every step.
void check_always(World& w);
/// Those that hold when every message has been taken, and every loss been noticed.
void check_quiet(World& w);

}  // namespace connector_model
