#include "runtime/src/job_host.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "runtime/src/secret.hpp"

namespace viaduct {

using link::Frame;
using link::Kind;

namespace {

// A rank tells each barrier. Its last one may be known from its page alone, hence one ahead.
constexpr std::uint32_t kMostAhead = 1;

bool is_state(RankState state) noexcept { return state <= RankState::killed; }

}  // namespace

JobHost::JobHost(std::uint32_t size)
    : page_(PageMapping::create(size)),
      known_(size),
      server_(size, [this](Frame&& event) { apply(event); }) {}

JobHost::JobHost(const std::vector<std::uint32_t>& hosts, std::uint32_t here,
                 BootstrapServer::Submit submit)
    : page_(PageMapping::create(static_cast<std::uint32_t>(hosts.size()))),
      known_(hosts.size()),
      here_(here),
      submit_(std::move(submit)),
      server_(static_cast<std::uint32_t>(hosts.size()), submit_) {
  for (std::uint32_t i = 0; i < hosts.size(); ++i) {
    page_->record(Rank{i}).host = hosts[i];
    known_[i].host = hosts[i];
  }
  page_.set_hosts(*std::max_element(hosts.begin(), hosts.end()) + 1);
  page_->local_size = static_cast<std::uint32_t>(std::count(hosts.begin(), hosts.end(), here));
}

void JobHost::set_pid(Rank rank, std::int32_t pid) noexcept {
  known_[index(rank)].pid = pid;
  // A number that the rank has written stays: @p pid may be that of a shell in which it runs.
  std::int32_t none = 0;
  page_->record(rank).pid.compare_exchange_strong(none, pid, std::memory_order_relaxed);
}

RankState JobHost::state_of(Rank rank) const noexcept {
  if (const auto& end = known_[index(rank)].end) return *end;
  const RankState state = page_->record(rank).state.load(std::memory_order_acquire);
  if (state == RankState::finalized && !server_.may_have_finalized(rank)) return RankState::running;
  return is_state(state) ? state : RankState::running;
}

bool JobHost::is_damaged(Rank rank) const noexcept {
  const RankRecord& record = page_->record(rank);
  const std::uint32_t peer = record.waits_for_peer.load(std::memory_order_relaxed);
  return !is_state(record.state.load(std::memory_order_acquire)) ||
         record.host != known_[index(rank)].host ||
         record.finalizing.load(std::memory_order_relaxed) > 1 ||
         (peer != RankRecord::kNoPeer && peer >= page_.shape().ranks);
}

Gathering JobHost::gathering_of(Rank rank) const {
  const auto is_at_fence = [this](Rank each) {
    return server_.waits(each) || page_->record(each).at_fence.load(std::memory_order_relaxed) != 0;
  };
  if (!is_at_fence(rank)) return viaduct::gathering_of(*page_, page_.shape().ranks, index(rank));
  Gathering gathering;
  gathering.at_fence = true;
  for (std::uint32_t i = 0; i < page_.shape().ranks; ++i) {
    const RankState state = state_of(Rank{i});
    const bool alive = state == RankState::starting || state == RankState::running;
    if (alive && !is_at_fence(Rank{i})) gathering.absent.push_back(i);
  }
  return gathering;
}

std::string JobHost::damage() const {
  const auto& shape = page_.shape();
  const JobPage& page = *page_;
  const bool header = page.magic != JobPage::kMagic || page.size != shape.ranks ||
                      page.hosts != shape.hosts || page.first_lost.load() > shape.ranks;
  std::uint32_t records = 0;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < shape.ranks; ++i) {
    if (!is_damaged(Rank{i})) continue;
    ++records;
    last = i;
  }
  if (!header && records == 0) return {};
  if (!header && records == 1)
    return fmt::format(
        "rank {}'s record in the job page holds nonsense: that rank has written "
        "over it, or another one has",
        last);
  return fmt::format(
      "the job page holds nonsense ({}{} records): a rank has written over memory "
      "that only Viaduct may use",
      header ? "its head, " : "", records);
}

void JobHost::submit(Frame&& event) {
  if (submit_)
    submit_(std::move(event));
  else
    apply(event);
}

Frame loss_of(Rank rank, RankState state, std::int32_t cause, std::uint32_t last_barrier) {
  Frame event{Kind::lost, index(rank), static_cast<std::uint32_t>(state), cause};
  const auto bytes = bytes_of_object(last_barrier);
  event.value.assign(bytes.begin(), bytes.end());
  return event;
}

/// The other hosts take the rank's last barrier from here: the rank may have been killed between
/// its arrival on this page and its message.
void JobHost::lose(Rank rank, RankState state, std::int32_t cause) {
  const auto& ticket = page_->record(rank).barrier_ticket;
  submit(loss_of(rank, state, cause, ticket.load(std::memory_order_acquire)));
}

void JobHost::finish(Rank rank, std::int32_t code) {
  if (code != 0) page_->record(rank).cause.store(code, std::memory_order_relaxed);
  known_[index(rank)].end = RankState::finalized;
  server_.close(rank);
  if (submit_) submit({Kind::finalized, index(rank), 0, code});
}

void JobHost::apply(const Frame& event) {
  const Rank rank{event.rank};
  if (event.rank >= page_.shape().ranks) return;
  const bool away = !is_here(rank);  // ranks here write into the page themselves
  switch (event.kind) {
    case Kind::barrier:
      if (away) catch_up(rank, event.number);
      return;
    case Kind::ending:
      if (away && page_->record(rank).finalizing.load() == 0)
        announce_end(*page_, page_.shape(), rank);
      return;
    case Kind::port:
      if (away) note_port(*page_, rank, event.number != 0);
      return;
    case Kind::finalized:
      if (!away) return;
      known_[event.rank].end = RankState::finalized;
      page_->record(rank).cause.store(event.cause, std::memory_order_relaxed);
      page_->record(rank).state.store(RankState::finalized, std::memory_order_release);
      return;
    case Kind::lost:
      apply_loss(event);
      return;
    default:
      server_.apply(event);
  }
}

void JobHost::apply_loss(const Frame& event) {
  const Rank rank{event.rank};
  std::uint32_t ticket = 0;
  if (event.value.size() == sizeof ticket) std::memcpy(&ticket, event.value.data(), sizeof ticket);
  if (!is_here(rank)) catch_up(rank, ticket);
  const RankState now = state_of(rank);
  if (now == RankState::starting || now == RankState::running) {
    const bool left = event.number == static_cast<std::uint32_t>(RankState::left);
    known_[event.rank].end = left ? RankState::left : RankState::killed;
    record_loss(*page_, page_.shape(), rank, *known_[event.rank].end, event.cause);
  }
  server_.apply(event);
}

void JobHost::catch_up(Rank rank, std::uint32_t ticket) noexcept {
  std::uint32_t& known = known_[index(rank)].barrier;
  const std::uint32_t ahead = ticket - known;
  if (ahead == 0 || ahead > kMostAhead) return;  // an old one, or nonsense from the rank's page
  known = ticket;
  arrive_at_barrier(*page_, page_.shape(), rank, ticket);
}

}  // namespace viaduct
