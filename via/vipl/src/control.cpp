#include "via/vipl/src/control.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"

namespace viaduct::via::vipl {
namespace {

/// The discriminator of these connections at the provider; those of VIs have the top bit set.
constexpr std::uint64_t kControl = 0x5649504c;

}  // namespace

struct Link {
  explicit Link(Rank to) noexcept : peer(to) { owner.link = this; }

  Rank peer;
  ViOwner owner;
  bool connected = false;
  bool dead = false;
  std::uint32_t under_way = 0;  // messages that the peer has not acknowledged
  std::uint32_t handled = 0;    // of the peer's, not acknowledged yet
  std::byte* block = nullptr;
  MemoryRegion region;
  std::vector<Descriptor> receives, sends;
  std::vector<std::uint32_t> free_sends;
  std::vector<Descriptor*> free_receives;  // not posted: the provider had no room
  std::deque<Message> outbox;
  std::unique_ptr<via::Vi> vi;  // ends before the memory that its descriptors name

  [[nodiscard]] std::byte* receive_bytes(std::size_t i) const noexcept {
    return block + i * sizeof(Message);
  }
  [[nodiscard]] std::byte* send_bytes(std::size_t i) const noexcept {
    return block + (receives.size() + i) * sizeof(Message);
  }
};

Control::Control(Job& job, via::Nic& nic, Handler handler)
    : job_(job), nic_(nic), handler_(std::move(handler)), tag_(nic.create_tag()) {
  queue_ = nic_.create_completion_queue(kReceives + kSends);
  nic_.on_incoming_peer([this](Rank from, std::uint64_t discriminator) {
    if (discriminator == kControl) (void)link_to(from);
  });
}

Control::~Control() {
  nic_.on_incoming_peer(nullptr);
  for (const auto& link : links_) {
    link->vi.reset();
    link->region = MemoryRegion();
    nic_.release(link->block);
  }
  links_.clear();
}

Link& Control::link_to(Rank rank) {
  for (const auto& link : links_)
    if (link->peer == rank) return *link;
  auto made = std::make_unique<Link>(rank);
  Link& link = *made;
  link.receives.resize(kReceives);
  link.sends.resize(kSends);
  for (std::uint32_t i = 0; i < kSends; ++i) link.free_sends.push_back(i);
  const std::size_t bytes = (kReceives + kSends) * sizeof(Message);
  queue_->resize((links_.size() + 1) * (kReceives + kSends));
  link.block = nic_.allocate(bytes);
  try {
    link.region = nic_.register_memory(tag_, link.block, bytes, Rights::none);
    ViAttributes attributes;
    attributes.tag = tag_;
    attributes.send_depth = kSends;
    attributes.receive_depth = kReceives;
    attributes.send_queue = attributes.receive_queue = queue_.get();
    attributes.context = &link.owner;
    link.vi = nic_.create_vi(attributes);
    for (Descriptor& each : link.receives) give(link, each);
    link.dead = link.vi->connect_peer_start(rank, kControl) != Status::ok;
  } catch (...) {
    link.vi.reset();
    link.region = MemoryRegion();
    nic_.release(link.block);
    throw;
  }
  links_.push_back(std::move(made));
  return link;
}

void Control::send(Rank to, const Message& message) {
  if (to == job_.rank()) {
    to_self_.push_back(message);
    return;
  }
  if (job_.is_lost(to)) return;
  Link& link = link_to(to);
  if (link.dead) return;
  link.outbox.push_back(message);
  update(link);
}

bool Control::is_busy() const noexcept {
  return std::any_of(links_.begin(), links_.end(), [](const auto& link) {
    return !link->dead && (!link->outbox.empty() || link->free_sends.size() != kSends);
  });
}

/// Looks at the state of the connection, and sends the messages and acknowledgements that can be
/// sent on it.
void Control::update(Link& link) {
  if (link.dead) return;
  std::vector<Descriptor*> again;
  again.swap(link.free_receives);
  for (Descriptor* const receive : again) give(link, *receive);
  if (!link.connected) {
    const Status status = link.vi->connect_peer_done();
    if (status == Status::retry) return;
    link.connected = status == Status::ok;
    link.dead = !link.connected;
  } else if (link.vi->state() != ViState::connected) {
    link.dead = true;
  }
  if (link.dead)
    link.outbox.clear();
  else
    flush(link);
}

/// Gives a receive to the provider, now or in a later update().
void Control::give(Link& link, Descriptor& receive) {
  const auto i = static_cast<std::size_t>(&receive - link.receives.data());
  make_receive(receive, link.receive_bytes(i), sizeof(Message), link.region.handle());
  if (link.vi->post_receive(receive) != Status::ok) link.free_receives.push_back(&receive);
}

void Control::flush(Link& link) {
  if (link.handled >= kWindow / 2) (void)post(link, Message{});
  while (!link.outbox.empty() && link.under_way < kWindow && post(link, link.outbox.front())) {
    ++link.under_way;
    link.outbox.pop_front();
  }
}

bool Control::post(Link& link, Message message) {
  if (link.free_sends.empty()) return false;
  const std::uint32_t slot = link.free_sends.back();
  message.acks = std::exchange(link.handled, 0);
  std::memcpy(link.send_bytes(slot), &message, sizeof message);
  make_send(link.sends[slot], link.send_bytes(slot), sizeof message, link.region.handle());
  if (link.vi->post_send(link.sends[slot]) != Status::ok) {
    link.handled += message.acks;
    return false;
  }
  link.free_sends.pop_back();
  return true;
}

/// A message has come. It may be anything that the peer's memory held.
void Control::take(Link& link, Descriptor& descriptor) {
  if (descriptor.failed()) return;
  const auto i = static_cast<std::size_t>(&descriptor - link.receives.data());
  Message message;
  const bool whole = descriptor.control.length == sizeof message;
  if (whole) std::memcpy(&message, link.receive_bytes(i), sizeof message);
  give(link, descriptor);
  if (!whole || message.kind > kLastMessageKind || message.local.bytes > Discriminator::kMaxBytes ||
      message.remote.bytes > Discriminator::kMaxBytes) {
    job_.log().write(LogLevel::error,
                     "a message of rank " + std::to_string(index(link.peer)) +
                         " about connections makes no sense and is dropped: start all processes "
                         "from one build");
    return;
  }
  link.under_way -= std::min(link.under_way, message.acks);
  if (message.kind == MessageKind::ack) return;
  ++link.handled;  // progress() acknowledges it, by an update() of the link
  handler_(link.peer, message);
}

void Control::progress() {
  nic_.progress();
  Completion completion;
  while (queue_->poll(completion) == Status::ok) {
    Link& link = *static_cast<ViOwner*>(completion.vi->attributes().context)->link;
    if (completion.queue == Queue::send)
      link.free_sends.push_back(
          static_cast<std::uint32_t>(completion.descriptor - link.sends.data()));
    else
      take(link, *completion.descriptor);
  }
  for (std::size_t i = 0; i < links_.size(); ++i) update(*links_[i]);  // update() may add some
  while (!to_self_.empty()) {
    const Message message = to_self_.front();
    to_self_.pop_front();
    handler_(job_.rank(), message);
  }
}

}  // namespace viaduct::via::vipl
