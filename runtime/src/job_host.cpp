#include "runtime/src/job_host.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/src/secret.hpp"

namespace viaduct {

using link::Frame;
using link::Kind;

JobHost::JobHost(std::uint32_t size)
    : page_(PageMapping::create(size)), server_(size, [this](Frame&& event) { apply(event); }) {}

JobHost::JobHost(const std::vector<std::uint32_t>& hosts, std::uint32_t here,
                 BootstrapServer::Submit submit)
    : page_(PageMapping::create(static_cast<std::uint32_t>(hosts.size()))),
      here_(here),
      submit_(std::move(submit)),
      server_(static_cast<std::uint32_t>(hosts.size()), submit_) {
  for (std::uint32_t i = 0; i < hosts.size(); ++i) page_->record(Rank{i}).host = hosts[i];
  page_->hosts = *std::max_element(hosts.begin(), hosts.end()) + 1;
  page_->local_size = static_cast<std::uint32_t>(std::count(hosts.begin(), hosts.end(), here));
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

/// The other hosts take the rank's last barrier from here: it may have been killed between its
/// arrival on this page and its message.
void JobHost::lose(Rank rank, RankState state, std::int32_t cause) {
  const auto& ticket = page_->record(rank).barrier_ticket;
  submit(loss_of(rank, state, cause, ticket.load(std::memory_order_acquire)));
}

void JobHost::finish(Rank rank, std::int32_t code) {
  if (code != 0) page_->record(rank).cause.store(code, std::memory_order_relaxed);
  server_.close(rank);
  if (submit_) submit({Kind::finalized, index(rank), 0, code});
}

void JobHost::apply(const Frame& event) {
  const Rank rank{event.rank};
  if (event.rank >= page_->size) return;
  const bool away = !is_here(rank);  // what ranks here do, they write into the page themselves
  switch (event.kind) {
    case Kind::barrier:
      if (away) catch_up(rank, event.number);
      return;
    case Kind::ending:
      if (away && page_->record(rank).finalizing.load() == 0) announce_end(*page_, rank);
      return;
    case Kind::port:
      if (away) note_port(*page_, rank, event.number != 0);
      return;
    case Kind::finalized:
      if (!away) return;
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
    record_loss(*page_, rank, left ? RankState::left : RankState::killed, event.cause);
  }
  server_.apply(event);
}

void JobHost::catch_up(Rank rank, std::uint32_t ticket) noexcept {
  const auto& known = page_->record(rank).barrier_ticket;
  for (std::uint32_t next = known.load(std::memory_order_relaxed) + 1;
       static_cast<std::int32_t>(ticket - next) >= 0; ++next)
    arrive_at_barrier(*page_, rank, next);
}

}  // namespace viaduct
