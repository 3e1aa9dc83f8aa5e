/// Completion queues, their channels, and events of the device.

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "tests/soft-verbs/context.hpp"
#include "tests/soft-verbs/operations.hpp"
#include "tests/soft-verbs/queue_pair.hpp"

namespace soft_verbs {

namespace {

void add_token(int fd) {
  const std::uint64_t one = 1;
  (void)!write(fd, &one, sizeof one);
}

/// A thread that has read it already finds nothing in the list, and reads again.
void remove_token(int fd) {
  pollfd look{fd, POLLIN, 0};
  std::uint64_t one = 0;
  if (poll(&look, 1, 0) == 1) (void)!read(fd, &one, sizeof one);
}

/// Waits as the descriptor says: O_NONBLOCK is the program's to set.
bool take_token(int fd) {
  std::uint64_t one = 0;
  ssize_t got = 0;
  do {
    got = read(fd, &one, sizeof one);
  } while (got < 0 && errno == EINTR);
  return got == sizeof one;
}

void ring(CompletionQueue& queue, const Entry& entry) {
  using Armed = CompletionQueue::Armed;
  const bool counts =
      queue.armed == Armed::any || (queue.armed == Armed::solicited &&
                                    (entry.solicited || entry.completion.status != IBV_WC_SUCCESS));
  if (!counts || queue.channel == nullptr) return;
  queue.armed = Armed::no;
  static_cast<Channel*>(queue.channel)->pending.push_back(&queue);
  add_token(queue.channel->fd);
}

/// The queues of an overrun queue's pairs complete nothing any more.
void overrun(CompletionQueue& queue) {
  Context& context = context_of(queue.context);
  queue.broken = true;
  ibv_async_event event{};
  event.event_type = IBV_EVENT_CQ_ERR;
  event.element.cq = &queue;
  tell(context, event);
  for (const auto& [index, pair] : context.pairs)
    if (pair->send_cq == &queue || pair->recv_cq == &queue) pair->fail(IBV_EVENT_QP_FATAL);
}

void add(CompletionQueue& queue, const Entry& entry) {
  if (queue.broken) return;
  if (queue.entries.size() >= static_cast<std::size_t>(queue.cqe)) return overrun(queue);
  queue.entries.push_back(entry);
  if (entry.visible_ns != 0) return set_timer(context_of(queue.context), entry.visible_ns);
  queue.visible.fetch_add(1, std::memory_order_release);
  ring(queue, entry);
}

/// The work queue's place, and with a send those of all before it, are free.
void give_place_back(const Entry& entry) {
  if (entry.pair == nullptr || entry.again) return;
  if (entry.is_send)
    entry.pair->sends_reaped(entry.number);
  else
    entry.pair->receive_reaped();
}

}  // namespace

void complete(CompletionQueue& queue, Entry entry) {
  Context& context = context_of(queue.context);
  const bool waits = queue.visible.load(std::memory_order_relaxed) != queue.entries.size();
  if (strikes(context, kLate)) {
    control().count(kLateCompletions);
    entry.visible_ns = now_ns() + 1 + context.random() % (control().time_ns[kLate] + 1);
  } else if (waits) {
    entry.visible_ns = 1;  // behind those that are late
  }
  if (waits) entry.visible_ns = std::max(entry.visible_ns, queue.entries.back().visible_ns);
  add(queue, entry);
  if (!strikes(context, kAgain)) return;
  control().count(kCompletionsAgain);
  entry.again = true;
  add(queue, entry);
}

void run_timers(CompletionQueue& queue, std::uint64_t now) {
  for (std::size_t at = queue.visible.load(std::memory_order_relaxed); at < queue.entries.size();
       ++at) {
    const Entry& entry = queue.entries[at];
    if (entry.visible_ns > now) return set_timer(context_of(queue.context), entry.visible_ns);
    queue.visible.fetch_add(1, std::memory_order_release);
    ring(queue, entry);
  }
}

void forget(CompletionQueue& queue, const QueuePair& pair) {
  std::uint32_t visible = 0;
  std::deque<Entry> left;
  const std::size_t seen = queue.visible.load(std::memory_order_relaxed);
  for (std::size_t at = 0; at < queue.entries.size(); ++at) {
    const Entry& entry = queue.entries[at];
    if (entry.pair == &pair) {
      give_place_back(entry);
      continue;
    }
    left.push_back(entry);
    if (at < seen) ++visible;
  }
  queue.entries.swap(left);
  queue.visible.store(visible, std::memory_order_release);
}

void tell(Context& context, const ibv_async_event& event) {
  context.events.push_back(event);
  add_token(context.shown.verbs.context.async_fd);
}

namespace {

/// Null for an event of a port or of the device.
void* object_of(const ibv_async_event& event) {
  switch (event.event_type) {
    case IBV_EVENT_CQ_ERR:
      return event.element.cq;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
      return event.element.qp;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return event.element.srq;
    default:
      return nullptr;
  }
}

}  // namespace

void settle_events(Context& context, std::unique_lock<std::mutex>& lock, void* object) {
  const auto gone = [&](const ibv_async_event& event) { return object_of(event) == object; };
  for (auto count = std::count_if(context.events.begin(), context.events.end(), gone); count > 0;
       --count)
    remove_token(context.shown.verbs.context.async_fd);
  std::erase_if(context.events, gone);
  context.acknowledged.wait(lock, [&] { return !context.unacknowledged.contains(object); });
}

int poll_queue(ibv_cq* shown, int most, ibv_wc* out) {
  auto& queue = *static_cast<CompletionQueue*>(shown);
  if (queue.visible.load(std::memory_order_acquire) == 0) return 0;
  const std::lock_guard lock(context_of(shown->context).mutex);
  int n = 0;
  for (; n < most && queue.visible.load(std::memory_order_relaxed) != 0; ++n) {
    const Entry& entry = queue.entries.front();
    out[n] = entry.completion;
    give_place_back(entry);
    queue.entries.pop_front();
    queue.visible.fetch_sub(1, std::memory_order_relaxed);
  }
  return n;
}

/// As the specification has it: what is in the queue already makes no event.
int arm_queue(ibv_cq* shown, int solicited_only) {
  using Armed = CompletionQueue::Armed;
  auto& queue = *static_cast<CompletionQueue*>(shown);
  const std::lock_guard lock(context_of(shown->context).mutex);
  if (solicited_only == 0)
    queue.armed = Armed::any;
  else if (queue.armed == Armed::no)
    queue.armed = Armed::solicited;
  return 0;
}

}  // namespace soft_verbs

using namespace soft_verbs;

extern "C" {

ibv_comp_channel* ibv_create_comp_channel(ibv_context* shown) {
  Context& context = context_of(shown);
  if (is_refused()) return nullptr;
  if (const int error = start(context); error != 0) {
    errno = error;
    return nullptr;
  }
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
  if (fd < 0) return nullptr;
  auto* const channel = new Channel{};
  channel->context = shown;
  channel->fd = fd;
  const std::lock_guard lock(context.mutex);
  ++context.objects;
  ++control().objects;
  return channel;
}

int ibv_destroy_comp_channel(ibv_comp_channel* shown) {
  Context& context = context_of(shown->context);
  const std::lock_guard lock(context.mutex);
  if (shown->refcnt != 0) return EBUSY;
  --context.objects;
  --control().objects;
  close(shown->fd);
  delete static_cast<Channel*>(shown);
  return 0;
}

ibv_cq* ibv_create_cq(ibv_context* shown, int entries, void* data, ibv_comp_channel* channel,
                      int vector) {
  Context& context = context_of(shown);
  if (is_refused()) return nullptr;
  if (entries < 1 || entries > kMostEntries || vector != 0) {
    errno = EINVAL;
    return nullptr;
  }
  auto* const queue = new CompletionQueue{};
  queue->context = shown;
  queue->channel = channel;
  queue->cq_context = data;
  queue->cqe = entries;
  const std::lock_guard lock(context.mutex);
  if (channel != nullptr) ++channel->refcnt;
  ++context.objects;
  ++control().objects;
  context.queues.push_back(queue);
  return queue;
}

int ibv_resize_cq(ibv_cq* queue, int entries) {
  if (is_refused()) return errno;
  const std::lock_guard lock(context_of(queue->context).mutex);
  const auto held = static_cast<int>(static_cast<CompletionQueue*>(queue)->entries.size());
  if (entries < 1 || entries < held || entries > kMostEntries) return EINVAL;
  queue->cqe = entries;
  return 0;
}

int ibv_destroy_cq(ibv_cq* shown) {
  auto* const queue = static_cast<CompletionQueue*>(shown);
  Context& context = context_of(shown->context);
  std::unique_lock lock(context.mutex);
  if (queue->users != 0) return EBUSY;
  std::erase(context.queues, queue);
  if (auto* const channel = static_cast<Channel*>(queue->channel); channel != nullptr) {
    for (auto n = std::erase(channel->pending, queue); n != 0; --n) remove_token(channel->fd);
    --channel->refcnt;
  }
  settle_events(context, lock, queue);
  --context.objects;
  --control().objects;
  delete queue;
  return 0;
}

int ibv_get_cq_event(ibv_comp_channel* shown, ibv_cq** queue, void** data) {
  auto* const channel = static_cast<Channel*>(shown);
  Context& context = context_of(shown->context);
  while (take_token(shown->fd)) {
    const std::lock_guard lock(context.mutex);
    if (channel->pending.empty()) continue;
    *queue = channel->pending.front();
    *data = (*queue)->cq_context;
    channel->pending.pop_front();
    ++context.unacknowledged[*queue];
    return 0;
  }
  return -1;
}

void ibv_ack_cq_events(ibv_cq* queue, unsigned int count) {
  Context& context = context_of(queue->context);
  const std::lock_guard lock(context.mutex);
  const auto found = context.unacknowledged.find(queue);
  if (found == context.unacknowledged.end() ||
      (found->second -= std::min(count, found->second)) != 0)
    return;
  context.unacknowledged.erase(found);
  context.acknowledged.notify_all();
}

int ibv_get_async_event(ibv_context* shown, ibv_async_event* event) {
  Context& context = context_of(shown);
  while (take_token(shown->async_fd)) {
    const std::lock_guard lock(context.mutex);
    if (context.events.empty()) continue;
    *event = context.events.front();
    context.events.pop_front();
    if (void* const object = object_of(*event); object != nullptr) ++context.unacknowledged[object];
    return 0;
  }
  return -1;
}

void ibv_ack_async_event(ibv_async_event* event) {
  void* const object = object_of(*event);
  if (object == nullptr) return;
  // Each object begins with its context.
  Context& context = context_of(*static_cast<ibv_context**>(object));
  const std::lock_guard lock(context.mutex);
  const auto found = context.unacknowledged.find(object);
  if (found == context.unacknowledged.end() || --found->second != 0) return;
  context.unacknowledged.erase(found);
  context.acknowledged.notify_all();
}

}  // extern "C"
