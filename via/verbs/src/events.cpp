#include "via/verbs/src/events.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "runtime/blocked_signals.hpp"
#include "runtime/errors/codes.hpp"
#include "via/verbs/src/completion_queue.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via::verbs {

namespace {
void make_non_blocking(int fd) noexcept { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }
}  // namespace

Events::Events(Device& device, Job& job) : device_(device), job_(job) {
  channel_.reset(library().create_comp_channel(device.context()));
  if (channel_ == nullptr)
    throw Error(errors::rdma_device, errno,
                "RDMA device " + device.name() + " makes no completion channel");
  stop_ = FileDescriptor(eventfd(0, EFD_CLOEXEC));
  if (!stop_.is_open()) throw_errno(errors::system_refused, "cannot make an eventfd");
  keepalive_at_ns_ = monotonic_ns() + static_cast<std::uint64_t>(device.settings().keepalive_ns);
  make_non_blocking(channel_->fd);
  make_non_blocking(device.context()->async_fd);
  const BlockedSignals blocked;
  thread_ = std::thread([this] { run(); });
}

Events::~Events() {
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  thread_.join();
  tell_port(false);
}

void Events::run() noexcept {
  // Later changes are events: the device was open before it was asked.
  tell_port(device_.port_attributes().state != IBV_PORT_ACTIVE);
  for (;;) {
    pollfd fds[3] = {{stop_.get(), POLLIN, 0},
                     {channel_->fd, POLLIN, 0},
                     {device_.context()->async_fd, POLLIN, 0}};
    if (::poll(fds, 3, patience_ms()) < 0) continue;
    if (fds[0].revents != 0) return;
    if (fds[1].revents != 0) take_completion_event();
    if (fds[2].revents != 0) take_device_event();
    keep_time();
    ring_doorbell(job_.record(job_.rank()));
  }
}

int Events::patience_ms() const noexcept {
  if (device_.settings().keepalive_ns == 0) return -1;
  constexpr std::uint64_t kMost = 3'600'000;
  const std::uint64_t now = monotonic_ns();
  const std::uint64_t left = keepalive_at_ns_ > now ? keepalive_at_ns_ - now : 0;
  return static_cast<int>(std::min((left + 999'999) / 1'000'000, kMost));
}

void Events::keep_time() noexcept {
  constexpr std::uint64_t kLeastNs = 10'000'000;
  const auto every = static_cast<std::uint64_t>(device_.settings().keepalive_ns);
  const std::uint64_t now = monotonic_ns();
  if (every == 0 || now < keepalive_at_ns_) return;
  keepalive_at_ns_ = now + std::max(every, kLeastNs);
  const std::lock_guard lock(mutex_);
  keepalive_.store(true);
  any_.store(true);
}

void Events::take_completion_event() noexcept {
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  if (library().get_cq_event(channel(), &queue, &context) != 0) return;
  if (context == control_context()) {
    const std::lock_guard lock(control_mutex_);
    if (on_control_) on_control_();
    control_.store(true);
  } else if (context != nullptr) {
    static_cast<CompletionQueue*>(context)->record_event();
  }
  library().ack_cq_events(queue, 1);  // until then the queue is not destroyed
}

/// Without memory the event stays with the device, and this is called again at once.
void Events::take_device_event() noexcept {
  std::unique_lock lock(mutex_);
  try {
    happened_.reserve(happened_.size() + 1);
  } catch (const std::bad_alloc&) {
    return;
  }
  bool of_port = false;
  ibv_async_event event{};
  if (library().get_async_event(device_.context(), &event) != 0) return;
  DeviceEvent happened{event.event_type, 0, nullptr};
  switch (event.event_type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_PATH_MIG_ERR:
      happened.pair = event.element.qp->qp_num;
      break;
    case IBV_EVENT_CQ_ERR:
      if (event.element.cq->cq_context != control_context())
        happened.queue = event.element.cq->cq_context;
      break;
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_PORT_ACTIVE:
      of_port = event.element.port_num == device_.port();
      break;
    default:
      break;
  }
  library().ack_async_event(&event);
  happened_.push_back(happened);
  any_.store(true);
  lock.unlock();
  if (of_port) tell_port(event.event_type == IBV_EVENT_PORT_ERR);
}

/// At once: this rank may compute for long, and peers that want to connect to it are to know.
void Events::tell_port(bool down) noexcept {
  if (std::exchange(port_down_, down) != down) job_.tell_port(down);
}

void Events::on_control(std::function<void()> answer) {
  const std::lock_guard lock(control_mutex_);
  on_control_ = std::move(answer);
}

std::vector<Events::DeviceEvent> Events::take() {
  const std::lock_guard lock(mutex_);
  any_.store(false);
  return std::exchange(happened_, {});
}

}  // namespace viaduct::via::verbs
