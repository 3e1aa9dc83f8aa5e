/// Endpoints: set-up, the translation table, the segment, returned messages.

#include "viaduct/am/endpoint.hpp"

#include <algorithm>
#include <new>
#include <string>

#include "am/src/arguments.hpp"
#include "am/src/bundle_wait.hpp"
#include "runtime/errors/codes.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::am {

using detail::Map;
namespace wire_format = detail::wire_format;

EndpointName Endpoint::name() const noexcept { return {bundle_.context_.job().rank(), number_}; }

Endpoint::Endpoint(Bundle& bundle, Tag tag, std::int32_t number) : bundle_(bundle), tag_(tag) {
  const Bundle::Guard guard(bundle, "Endpoint");
  Context& context = bundle.context();
  const Settings& settings = context.settings();
  max_medium_ = static_cast<std::uint32_t>(settings.medium_bytes / 2);
  flow_ = {static_cast<std::uint32_t>(settings.slots),
           static_cast<std::uint32_t>(settings.credits)};
  if (context.nic().transport() != nullptr) flow_ = flow_.between_hosts();
  thunks_.assign(kOwnHandlers, nullptr);
  takes_.resize(kOwnHandlers);
  thunks_.insert(thunks_.end(), context.typed_.begin(), context.typed_.end());
  for (std::size_t id = kOwnHandlers; id < thunks_.size(); ++id)
    takes_.emplace_back(*typed_takes(static_cast<std::uint16_t>(id)));
  set_translations(std::max(kMinTranslations, context.job().size()));
  page_ = new (context.nic().allocate(sizeof(detail::EndpointPage))) detail::EndpointPage{};
  page_->protection_tag = static_cast<std::uint32_t>(bundle.protection_tag_);
  try {
    bundle.add(*this);
    number_ = context.add(*this, number);
  } catch (...) {
    bundle.remove(*this);
    context.nic().release(reinterpret_cast<std::byte*>(page_));
    throw;
  }
}

Endpoint::~Endpoint() {
  const Bundle::Guard guard(bundle_, "~Endpoint");
  Context& context = bundle_.context();
  context.remove(*this);  // from here on requests for MAPs are refused
  while (!owned_.empty()) {
    Map& map = *owned_.back();
    std::erase(bundle_.closing_, &map);
    std::erase(bundle_.deferred_maps_, &map);
    bundle_.deferred_total_ -= map.deferred_count;
    drop(map);
  }
  bundle_.remove(*this);
  region_ = {};
  if (transport_key_ != 0) context.nic().transport()->deregister(transport_key_);
  // Peers that have not yet heard of the end may still use all of these.
  for (void* block :
       {static_cast<void*>(own_segment_), static_cast<void*>(page_), static_cast<void*>(overflow_)})
    if (block != nullptr) context.nic().release_when_parted(static_cast<std::byte*>(block));
}

void Endpoint::set_translations(std::uint32_t count) {
  if (count > 65536)
    throw Error(errors::too_many, std::errc::invalid_argument,
                "a translation table has at most 65536 entries, not " + std::to_string(count));
  const Bundle::Lock lock(bundle_, "set_translations");
  if (count < maps_.size()) return;
  maps_.resize(count, &null_map_);
  translations_.resize(count);
  call_limit_ = flow_.credits < detail::CallRing::kSize ? count : 0;
}

void Endpoint::map_all(Tag tag) {
  const std::uint32_t size = bundle_.context().job().size();
  set_translations(size);
  const Bundle::Lock lock(bundle_, "map_all");
  // Among names that are all different none has to be looked for.
  const bool first = std::none_of(translations_.begin(), translations_.end(),
                                  [](const Translation& entry) { return entry.in_use; });
  for (std::uint32_t r = 0; r < size; ++r)
    if (const EndpointName name{Rank{r}, 0};
        set_entry(Index{r}, name, tag, first ? Index{kNoIndex} : index_of(name)) != Status::ok)
      throw Error(errors::index_in_use, std::errc::device_or_resource_busy,
                  "map_all: index " + std::to_string(r) + " is in use: unmap it first");
}

Status Endpoint::map(Index index, EndpointName name, Tag tag) {
  const Bundle::Lock lock(bundle_, "map");
  if (value(index) >= translations_.size()) return Refusal::index(*this, "map", index);
  if (viaduct::index(name.rank) >= bundle_.context().job().size())
    return Refusal::rank(*this, name.rank);
  return set_entry(index, name, tag, index_of(name));
}

/// @p other: the lowest index that names @p name already.
Status Endpoint::set_entry(Index index, EndpointName name, Tag tag, Index other) {
  Translation& entry = translations_[value(index)];
  if (entry.in_use) return Status::bad_state;
  if (value(other) != kNoIndex && translations_[value(other)].tag != tag) return Status::bad_state;
  entry = {name, true, tag};
  Map* existing = find_map(name);  // made by the peer, by another index, or by one that is no more
  if (existing == nullptr) return Status::ok;
  if (value(existing->index) == kNoIndex) retag(*existing, tag);
  existing->index = index_of(name);
  return Status::ok;
}

/// Names a MAP that no index named, and over which no request of ours is under way, under @p tag.
/// The peer may have read the old tag from our block, so a notice goes before the next request.
void Endpoint::retag(Map& map, Tag tag) noexcept {
  if (map.tags.presented == tag && map.state == Map::State::connected) return;
  map.tags.presented = tag;
  map.tags.changed = true;
  if (map.channel == nullptr || map.channel->state() == via::ViState::idle) return;
  auto* block = reinterpret_cast<detail::MapBlock*>(map.channel->prepare_extra());
  block->tag.store(tag);
  map.channel->forward_extra(reinterpret_cast<std::byte*>(block), sizeof *block);
}

/// The lowest index that names @p name, or kNoIndex.
Index Endpoint::index_of(EndpointName name) const noexcept {
  const auto found =
      std::find_if(translations_.begin(), translations_.end(), [&](const Translation& entry) {
        return entry.in_use && entry.name.rank == name.rank && entry.name.number == name.number;
      });
  return Index{found == translations_.end()
                   ? kNoIndex
                   : static_cast<std::uint32_t>(found - translations_.begin())};
}

Status Endpoint::unmap(Index index) noexcept {
  const Bundle::Guard guard(bundle_, "unmap");
  if (!is_mapped(index)) return Refusal::unmapped(*this, index);
  const EndpointName peer = translations_[value(index)].name;
  Map* map = nullptr;
  bool recalled = false;
  const auto settled = [&] {
    map = find_map(peer);
    if (map == nullptr) return true;
    check_connection(*map);
    if (map->state != Map::State::connected) return true;
    map->refresh_credits();
    if (map->credits() == map->credit_limit) return true;
    if (!recalled) recalled = try_notice(*map);  // asks for the credits that the peer withholds
    return false;
  };
  if (!settled())
    (void)bundle_.wait_loop(Activity::waiting_credit, "unmap", viaduct::index(peer.rank),
                            Bundle::Run::all, -1, settled);
  translations_[value(index)] = {};
  maps_[value(index)] = &null_map_;
  if (map == nullptr) return Status::ok;
  if (map->state == Map::State::connected || map->state == Map::State::connecting) {
    map->index = index_of(peer);  // if no other names it: the peer may go on talking to us
    return Status::ok;
  }
  std::erase(bundle_.closing_, map);
  close(*map);
  map = find_map(peer);  // as it was, or made anew by the peer
  if (map != nullptr && map->state == Map::State::lost) drop(*map);
  return Status::ok;
}

bool Endpoint::is_mapped(Index index) const noexcept {
  const Bundle::Lock lock(bundle_, "is_mapped");
  return value(index) < translations_.size() && translations_[value(index)].in_use;
}

EndpointName Endpoint::translation_name(Index index) const noexcept {
  const Bundle::Lock lock(bundle_, "translation_name");
  return is_mapped(index) ? translations_[value(index)].name : EndpointName{};
}

Tag Endpoint::translation_tag(Index index) const noexcept {
  const Bundle::Lock lock(bundle_, "translation_tag");
  return is_mapped(index) ? translations_[value(index)].tag : kTagNone;
}

// Tags.

bool Endpoint::hears(Tag presented) const noexcept {
  return tag_ == kTagAll || (tag_ != kTagNone && tag_ == presented);
}

/// Before the peer is connected its tag is unknown: `thunk_count` stays 0, so that its first
/// message leads to check_connection().
void Endpoint::apply_tag(Map& map) noexcept {
  if (map.state != Map::State::connected && map.state != Map::State::closing) return;
  map.tags.theirs = reinterpret_cast<detail::MapBlock*>(map.channel->peer_extra())->tag.load();
  map.tags.refused = !hears(map.tags.theirs);
  map.thunk_count = map.tags.refused ? 0 : static_cast<std::uint32_t>(thunks_.size());
}

void Endpoint::set_tag(Tag tag) noexcept {
  const Bundle::Lock lock(bundle_, "set_tag");
  tag_ = tag;
  for (const auto& map : owned_) apply_tag(*map);
}

Status Endpoint::set_handler(HandlerId id, RawHandler handler,
                             std::optional<Takes> takes) noexcept {
  const auto at = static_cast<std::size_t>(id);
  if (at == 0 || at >= kOwnHandlers) return Refusal::handler(*this, "set_handler", at);
  const Bundle::Lock lock(bundle_, "set_handler");
  thunks_[at] = handler;
  takes_[at] = takes;
  return Status::ok;
}

void Endpoint::set_undeliverable_handler(UndeliverableHandler handler) {
  const Bundle::Lock lock(bundle_, "set_undeliverable_handler");
  undeliverable_ = std::move(handler);
}

void Endpoint::set_wait_run(Bundle::Run run) noexcept {
  const Bundle::Lock lock(bundle_, "set_wait_run");
  wait_run_ = run;
}

// Segment.

std::span<std::byte> Endpoint::make_segment(std::size_t bytes) {
  const Bundle::Lock lock(bundle_, "make_segment");
  std::byte* memory = bundle_.context().nic().allocate(bytes);
  try {
    publish_segment({memory, bytes});
  } catch (...) {
    bundle_.context().nic().release(memory);
    throw;
  }
  if (own_segment_ != nullptr) bundle_.context().nic().release(own_segment_);
  own_segment_ = memory;
  return segment_;
}

void Endpoint::set_segment(std::span<std::byte> memory) {
  const Bundle::Lock lock(bundle_, "set_segment");
  publish_segment(memory);
  if (own_segment_ != nullptr) bundle_.context().nic().release(own_segment_);
  own_segment_ = nullptr;
}

void Endpoint::publish_segment(std::span<std::byte> memory) {
  via::MemoryRegion region;
  via::Transport* const transport = bundle_.context().nic().transport();
  std::uint32_t key = 0;
  if (!memory.empty()) {
    region = bundle_.context().nic().register_memory(
        bundle_.protection_tag_, memory.data(), memory.size(),
        via::Rights::rdma_write | via::Rights::rdma_read);
    if (transport != nullptr) key = transport->register_memory(memory.data(), memory.size());
  }
  page_->segment_bytes.store(0);
  if (!memory.empty()) page_->segment_handle.store(static_cast<std::uint32_t>(region.handle()));
  page_->segment_address.store(reinterpret_cast<std::uint64_t>(memory.data()));
  page_->segment_bytes.store(memory.size());
  if (transport != nullptr) show_remote(*transport, key);
  region_ = std::move(region);
  segment_ = memory;
}

/// Shows the segment, which @p transport has registered as @p key, to the peers that are reached by
/// that.
void Endpoint::show_remote(via::Transport& transport, std::uint32_t key) {
  const std::uint32_t before = std::exchange(transport_key_, key);
  for (const auto& map : owned_) {
    if (map->channel == nullptr || !map->channel->is_remote() ||
        map->channel->state() == via::ViState::idle)
      continue;
    auto* block = reinterpret_cast<detail::MapBlock*>(map->channel->prepare_extra());
    show_segment(*block);
    map->channel->forward_extra(reinterpret_cast<std::byte*>(block), sizeof *block);
  }
  // All peers are told before the first wait. During a wait, peers may come and go.
  std::vector<const Map*> told;
  for (const auto& map : owned_) told.push_back(map.get());
  for (const Map* map : told) {
    const bool is_here = std::any_of(owned_.begin(), owned_.end(),
                                     [&](const auto& owned) { return owned.get() == map; });
    if (is_here && map->channel != nullptr) (void)map->channel->flush_extra();
  }
  if (before != 0) transport.deregister(before);
}

/// The messages that one peer on another host can have sent and this rank has not polled: requests
/// by our credits, replies to ours, a notice (try_notice) and two signs of the channel's.
std::uint32_t Endpoint::remote_notifications() const noexcept {
  constexpr std::uint32_t kBesides = 4;  // one to spare
  return 2 * flow_.credits + kBesides;
}

void Endpoint::show_segment(detail::MapBlock& block) const noexcept {
  block.page.segment_address.store(page_->segment_address.load());
  block.page.segment_handle.store(transport_key_);
  block.page.segment_bytes.store(transport_key_ == 0 ? 0 : page_->segment_bytes.load());
  block.page.check_word.store(detail::check_word_of(block.page));
}

// Returned messages.

namespace {

/// The destination of a returned message. A message without a mapped index has no rank either, and
/// a reply's requester may have no index.
std::string destination(const Returned& returned) {
  const std::string index = "index " + std::to_string(value(returned.peer));
  if (returned.status == Undeliverable::bad_entry) return index;
  const std::string rank = "rank " + std::to_string(viaduct::index(returned.rank));
  return value(returned.peer) == kNoIndex ? rank : rank + " (" + index + ")";
}

}  // namespace

void Endpoint::return_to_sender(const Returned& returned) noexcept {
  bundle_.context().count(kReturned);
  bundle_.stirred_ = true;
  if (!undeliverable_) {
    const std::string mapped =
        returned.status == Undeliverable::bad_entry ? "; " + Refusal::describe_mapped(*this) : "";
    violate_contract(errors::undeliverable,
                     std::string("undeliverable ") +
                         (returned.direction == Direction::reply ? "reply" : "request") + " (" +
                         to_string(returned.operation) + ") from endpoint " +
                         std::to_string(number_) + " to " + destination(returned) + ", handler " +
                         handler_name(returned.handler) + ": " + to_string(returned.status) +
                         mapped + "; set_undeliverable_handler() would have been told");
  }
  const std::uint16_t outer = bundle_.running_;
  bundle_.running_ = 0;
  ++bundle_.slow_;
  undeliverable_(returned);
  --bundle_.slow_;
  bundle_.running_ = outer;
}

void Endpoint::return_to_sender(const Outgoing& out, Undeliverable why) noexcept {
  if (out.call != nullptr) return out.call->fail(why);
  Returned returned;
  returned.status = why;
  returned.operation = wire_format::operation(out.client);
  returned.direction = Direction::request;
  returned.peer = out.to;
  returned.rank =
      is_mapped(out.to) ? translation_name(out.to).rank : bundle_.context().job().rank();
  returned.handler = wire_format::handler(out.client);
  returned.args = reinterpret_cast<const std::byte*>(out.words);
  returned.arg_bytes = out.arg_bytes;
  returned.data_bytes = out.bytes;
  returned.offset = out.offset;
  return_to_sender(returned);
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
  const Settings& s = bundle_.context().settings();
  const std::size_t channel = via::ChannelHead::bytes_for(flow_.slots) + sizeof(detail::MapBlock) +
                              static_cast<std::size_t>(s.medium_bytes);
  if (via::Transport* const transport = bundle_.context().nic().transport()) {
    const std::size_t half = channel + sizeof(detail::OverflowBlock) + max_medium_;
    return {2 * half + transport->bytes_per_link(remote_notifications()) + sizeof(Map) +
                sizeof(via::channel::Channel) + kEmptyDeque + sizeof(Map*) + sizeof(Translation) +
                sizeof(RankRecord),
            sizeof(Map*) + sizeof(Translation) + sizeof(RankRecord)};
  }
  const std::size_t theirs = (channel + kPage - 1) / kPage * kPage;
  const std::size_t idle = sizeof(Map*) + sizeof(Translation) + sizeof(RankRecord) +
                           via::channel::Nic::bytes_per_peer() +
                           sizeof(std::byte*);  // the job's entry
  return {channel + theirs + kControlPages * kPage + sizeof(Map) + sizeof(via::channel::Channel) +
              kEmptyDeque + idle,
          idle};
}

std::uint32_t Endpoint::translations() const noexcept {
  const Bundle::Lock lock(bundle_, "translations");
  return static_cast<std::uint32_t>(maps_.size());
}

std::uint32_t Endpoint::active_peers() const noexcept {
  const Bundle::Lock lock(bundle_, "active_peers");
  return static_cast<std::uint32_t>(
      std::count_if(owned_.begin(), owned_.end(),
                    [](const auto& map) { return map->state == Map::State::connected; }));
}

}  // namespace viaduct::am
