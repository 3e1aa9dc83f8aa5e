/// Endpoints: set-up, the calls that send nothing, the end.

#include "viaduct/am/endpoint.hpp"

#include <algorithm>
#include <string>

#include "am/src/arguments.hpp"
#include "am/src/bundle_wait.hpp"
#include "am/src/map_life.hpp"
#include "runtime/errors/codes.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::am {

using detail::Map;
using detail::Refusal;
using detail::TranslationTable;

namespace detail {

EndpointName EndpointCore::name() const noexcept { return {bundle.job().rank(), number}; }

EndpointCore::EndpointCore(Endpoint& its_endpoint, Bundle& its_bundle, Tag its_tag,
                           std::int32_t its_number)
    : bundle(its_bundle), endpoint(its_endpoint), tag(its_tag) {
  const Bundle::Guard guard(bundle, "Endpoint");
  const Settings& settings = context().settings();
  via::channel::Nic& nic = context().nic();
  max_medium = static_cast<std::uint32_t>(settings.medium_bytes / 2);
  flow = {static_cast<std::uint32_t>(settings.slots), static_cast<std::uint32_t>(settings.credits)};
  if (nic.transport() != nullptr) flow = flow.between_hosts();
  const auto typed = context().typed_;
  handlers.thunks.assign(kOwnHandlers, nullptr);
  handlers.takes.resize(kOwnHandlers);
  handlers.thunks.insert(handlers.thunks.end(), typed.begin(), typed.end());
  for (std::size_t id = kOwnHandlers; id < handlers.thunks.size(); ++id)
    handlers.takes.emplace_back(*typed_takes(static_cast<std::uint16_t>(id)));
  grow_table(std::max(kMinTranslations, bundle.job().size()));
  segment.open(nic, dispatcher().protection_tag);
  segment.page().tag.store(tag);
  try {
    dispatcher().endpoints.push_back(this);
    number = context().add(*this, its_number);
  } catch (...) {
    std::erase(dispatcher().endpoints, this);
    segment.take_back_page();
    throw;
  }
}

void EndpointCore::disconnect() noexcept {
  context().remove(*this);
  while (!table.maps().empty()) {
    Map& map = *table.maps().back();
    dispatcher().forget(map);
    drop(map);
  }
}

EndpointCore::~EndpointCore() {
  const Bundle::Guard guard(bundle, "~Endpoint");
  disconnect();
  std::erase(dispatcher().endpoints, this);
  segment.close();
  if (overflow.block != nullptr)
    context().nic().release_when_parted(reinterpret_cast<std::byte*>(overflow.block));
}

void EndpointCore::grow_table(std::uint32_t count) {
  if (count > 65536)
    throw Error(errors::too_many, std::errc::invalid_argument,
                "a translation table has at most 65536 entries, not " + std::to_string(count));
  if (count < table.size()) return;
  table.grow(count);
  call_limit = flow.credits < CallRing::kSize ? count : 0;
}

}  // namespace detail

EndpointRequests::EndpointRequests(Bundle& bundle, Tag tag, std::int32_t number)
    : core_(static_cast<Endpoint&>(*this), bundle, tag, number) {}

// The translation table.

void Endpoint::set_translations(std::uint32_t count) {
  const Bundle::Lock lock(core_.bundle, "set_translations");
  core_.grow_table(count);
}

void Endpoint::map_all(Tag tag) {
  const std::uint32_t size = core_.bundle.job().size();
  const Bundle::Lock lock(core_.bundle, "map_all");
  core_.grow_table(size);
  TranslationTable& table = core_.table;
  // Among names that are all different none has to be looked for.
  const bool first = std::none_of(table.entries().begin(), table.entries().end(),
                                  [](const auto& entry) { return entry.in_use; });
  for (std::uint32_t r = 0; r < size; ++r)
    if (const EndpointName name{Rank{r}, 0};
        table.set(Index{r}, name, tag, first ? Index{kNoIndex} : table.index_of(name)) !=
        Status::ok)
      throw Error(errors::index_in_use, std::errc::device_or_resource_busy,
                  "map_all: index " + std::to_string(r) + " is in use: unmap it first");
}

Status Endpoint::map(Index index, EndpointName name, Tag tag) {
  const Bundle::Lock lock(core_.bundle, "map");
  TranslationTable& table = core_.table;
  if (value(index) >= table.size()) return Refusal::index(core_, "map", index);
  if (viaduct::index(name.rank) >= core_.bundle.job().size())
    return Refusal::rank(core_, name.rank);
  return table.set(index, name, tag, table.index_of(name));
}

Status Endpoint::unmap(Index index) noexcept {
  const Bundle::Guard guard(core_.bundle, "unmap");
  TranslationTable& table = core_.table;
  if (!table.is_mapped(index)) return Refusal::unmapped(core_, index);
  const EndpointName peer = table[index].name;
  Map* map = nullptr;
  std::uint64_t asked_behind = 0;  // the slots that were sent when the peer was asked last
  const auto settled = [&] {
    if (core_.ends_waits.load(kRelaxed) != 0) return true;
    map = table.find(peer);
    if (map == nullptr) return true;
    check_connection(*map);
    if (map->state != Map::State::connected) return true;
    map->refresh_credits();
    if (map->credits() == map->credit_limit) return true;
    // Asks for the credits that the peer withholds; again where another thread has sent since, and
    // those that are out are too few for the peer to give them back by itself.
    const bool few = map->credit_limit - map->credits() < map->batch;
    if ((asked_behind == 0 || (few && map->slots_sent() != asked_behind)) && try_notice(*map))
      asked_behind = map->slots_sent();
    return false;
  };
  if (!settled())
    (void)core_.bundle.wait_loop(Activity::waiting_credit, "unmap", viaduct::index(peer.rank),
                                 Bundle::Run::all, -1, settled);
  if (core_.ends_waits.load(kRelaxed) != 0) return Status::bad_state;
  table.clear(index);
  if (map == nullptr) return Status::ok;
  if (map->state == Map::State::connected || map->state == Map::State::connecting) {
    map->index = table.index_of(peer);  // if no other names it: the peer may go on talking to us
    return Status::ok;
  }
  std::erase(core_.dispatcher().closing, map);
  close(*map);
  map = table.find(peer);  // as it was, or made anew by the peer
  if (map != nullptr && map->state == Map::State::lost) drop(*map);
  return Status::ok;
}

bool Endpoint::is_mapped(Index index) const noexcept {
  const Bundle::Lock lock(core_.bundle, "is_mapped");
  return core_.table.is_mapped(index);
}

EndpointName Endpoint::translation_name(Index index) const noexcept {
  const Bundle::Lock lock(core_.bundle, "translation_name");
  return core_.table.is_mapped(index) ? core_.table[index].name : EndpointName{};
}

Tag Endpoint::translation_tag(Index index) const noexcept {
  const Bundle::Lock lock(core_.bundle, "translation_tag");
  return core_.table.is_mapped(index) ? core_.table[index].tag : kTagNone;
}

// Tag, handlers, segment.

void Endpoint::set_tag(Tag tag) noexcept {
  const Bundle::Lock lock(core_.bundle, "set_tag");
  core_.tag = tag;
  core_.segment.page().tag.store(tag);
  for (const auto& map : core_.table.maps()) apply_tag(*map);
}

Status Endpoint::set_handler(HandlerId id, RawHandler handler,
                             std::optional<Takes> takes) noexcept {
  const auto at = static_cast<std::size_t>(id);
  if (at == 0 || at >= kOwnHandlers) return Refusal::handler(core_, "set_handler", at);
  const Bundle::Lock lock(core_.bundle, "set_handler");
  core_.handlers.thunks[at] = handler;
  core_.handlers.takes[at] = takes;
  return Status::ok;
}

void Endpoint::set_undeliverable_handler(UndeliverableHandler handler) {
  const Bundle::Lock lock(core_.bundle, "set_undeliverable_handler");
  core_.undeliverable = std::move(handler);
}

void Endpoint::set_wait_run(Bundle::Run run) noexcept {
  const Bundle::Lock lock(core_.bundle, "set_wait_run");
  core_.wait_run = run;
}

std::span<std::byte> Endpoint::make_segment(std::size_t bytes) {
  const Bundle::Lock lock(core_.bundle, "make_segment");
  core_.segment.make(bytes, core_.table);
  return segment();
}

void Endpoint::set_segment(std::span<std::byte> memory) {
  const Bundle::Lock lock(core_.bundle, "set_segment");
  core_.segment.use(memory, core_.table);
}

// Memory.

/// Memory is counted where it becomes resident: by the byte in this rank's own window, by the page
/// in the peer's.
Endpoint::Footprint Endpoint::footprint() const noexcept {
  constexpr std::size_t kPage = 4096;
  // The peer's NIC page, mailbox entry, regions; doorbell and endpoint page.
  constexpr std::size_t kControlPages = 4;
  // The C++ library's allocations for deferred requests, and malloc's part.
  constexpr std::size_t kEmptyDeque = 64 + 512 + 2 * 16;
  const Settings& s = core_.context().settings();
  const std::size_t channel = via::ChannelHead::bytes_for(core_.flow.slots) +
                              sizeof(detail::MapBlock) + static_cast<std::size_t>(s.medium_bytes);
  if (via::Transport* const transport = core_.context().nic().transport()) {
    const std::size_t half = channel + sizeof(detail::OverflowBlock) + core_.max_medium;
    return {2 * half + transport->bytes_per_link(remote_notifications(core_)) + sizeof(Map) +
                sizeof(via::channel::Channel) + kEmptyDeque + TranslationTable::kBytesPerIndex +
                sizeof(RankRecord),
            TranslationTable::kBytesPerIndex + sizeof(RankRecord)};
  }
  const std::size_t theirs = (channel + kPage - 1) / kPage * kPage;
  const std::size_t idle = TranslationTable::kBytesPerIndex + sizeof(RankRecord) +
                           via::channel::Nic::bytes_per_peer() +
                           sizeof(std::byte*);  // the job's entry
  return {channel + theirs + kControlPages * kPage + sizeof(Map) + sizeof(via::channel::Channel) +
              kEmptyDeque + idle,
          idle};
}

std::uint32_t Endpoint::translations() const noexcept {
  const Bundle::Lock lock(core_.bundle, "translations");
  return static_cast<std::uint32_t>(core_.table.size());
}

std::uint32_t Endpoint::active_peers() const noexcept {
  const Bundle::Lock lock(core_.bundle, "active_peers");
  return static_cast<std::uint32_t>(
      std::count_if(core_.table.maps().begin(), core_.table.maps().end(),
                    [](const auto& map) { return map->state == Map::State::connected; }));
}

}  // namespace viaduct::am
