#include "via/channel/engine.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>

#include "runtime/one_of_rank.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/segment.hpp"

namespace viaduct::via::channel {

namespace {

static_assert(sizeof(pthread_t) == sizeof(std::uintptr_t));
std::uintptr_t this_thread() noexcept { return std::uintptr_t{pthread_self()}; }

/// The number of serves without a message after which a client's hot channels are set aside, so
/// that the word tells of their next message.
constexpr std::uint32_t kQuietServes = 256;

}  // namespace

Client::Client(Nic& nic, Group& group, Kind kind) noexcept
    : nic_(nic), group_(group), kind_(kind) {}

shm::Watched Client::watched() const noexcept { return {&nic_, &group_, nullptr}; }

bool Client::is_home() const noexcept { return home_.load(kRelaxed) == this_thread(); }

void Client::come_home() noexcept { home_.store(this_thread(), kRelaxed); }

std::shared_ptr<Engine> Engine::of(Job& job) {
  return one_of_rank<Engine>(job, [&job] { return std::make_shared<Engine>(job); });
}

Engine::Engine(Job& job) : job_(job), attention_(Nic::make_attention(job)) {}

Engine::~Engine() {
  if (keeps_attention_.load(kRelaxed)) return;
  const auto* const at = reinterpret_cast<std::byte*>(&attention_);
  job_.segment().release(static_cast<std::size_t>(at - job_.segment().base()));
}

void Engine::add(Client& client) {
  client.come_home();
  {
    const std::lock_guard lock(mutex_);
    clients_.push_back(&client);
    count_clients();
  }
  attention_.store(1);  // there is another one to look at
}

void Engine::remove(Client& client) noexcept {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (!client.in_use_ || client.user_ == this_thread()) {
        std::erase(clients_, &client);
        count_clients();
        return;
      }
    }
    ring_doorbell(job_.record(job_.rank()));  // its user may sleep
    ::sched_yield();
  }
}

void Engine::count_clients() noexcept {
  count_.store(static_cast<std::uint32_t>(clients_.size()), kRelaxed);
  const auto passive = std::count_if(clients_.begin(), clients_.end(), [](const Client* client) {
    return client->kind_ == Client::Kind::passive;
  });
  passive_.store(static_cast<std::uint32_t>(passive), kRelaxed);
}

void Engine::watch(bool does) noexcept { watcher_.store(does ? this_thread() : 0, kRelaxed); }

bool Client::is_served_in(const Client* waiting, std::uintptr_t thread) const noexcept {
  if (home_.load(kRelaxed) == thread) return true;
  const void* const family = family_.load(kRelaxed);
  return family != nullptr && waiting != nullptr && waiting->family_.load(kRelaxed) == family;
}

/// Takes the next client but @p self that this thread serves, from place @p at on, and no other
/// one; null: there is none. Sets @p used_elsewhere where it passes by a client that another thread
/// serves.
Client* Engine::take(std::size_t& at, const Client* self, bool* used_elsewhere) noexcept {
  const std::uintptr_t me = this_thread();
  const std::lock_guard lock(mutex_);
  while (at < clients_.size()) {
    Client* const client = clients_[at++];
    if (client == self || !client->is_served_in(self, me)) continue;
    if (client->in_use_) {
      if (used_elsewhere != nullptr && client->user_ != me) *used_elsewhere = true;
      continue;
    }
    client->in_use_ = true;
    client->user_ = me;
    return client;
  }
  return nullptr;
}

void Engine::return_to_sender(Client& client) noexcept {
  const std::lock_guard lock(mutex_);
  client.in_use_ = false;
}

/// Called after a serve. Answers whether messages may come that the attention word does not tell
/// of: by a transport, or to a hot channel. Channels that stay quiet are set aside, and looked at
/// once more a while later, since their senders may have missed that.
bool Engine::stays_hot(Client& client, std::uint32_t handled) noexcept {
  if (client.nic_.transport() != nullptr) return true;
  Group& group = client.group_;
  if (!group.has_hot()) {
    if (client.quiet_serves_ > kQuietServes) group.ring_for_missed();
    client.quiet_serves_ = 0;
    return false;
  }
  client.quiet_serves_ = handled != 0 ? 0 : client.quiet_serves_ + 1;
  if (client.quiet_serves_ > kQuietServes) group.set_all_aside();
  return true;
}

Engine::Outcome Engine::serve_but(const Client* self, Run run, bool asked) noexcept {
  Outcome outcome;
  std::size_t at = 0;
  while (Client* const client = take(at, self)) {
    if (client->try_lock()) {
      if (asked) client->group_.look_fully();
      const std::uint32_t handled = client->serve(run);
      outcome.handled += handled;
      if (stays_hot(*client, handled)) outcome.hot = true;
      client->unlock();
    } else {
      outcome.hot = true;
    }
    return_to_sender(*client);
  }
  return outcome;
}

/// Answers whether the word is set, and clears it where that is this thread's part.
bool Engine::ask() noexcept {
  const std::uintptr_t watcher = watcher_.load(kRelaxed);
  return watcher == 0 || watcher == this_thread() ? take_attention() : asks();
}

Engine::Outcome Engine::serve_others(Client& self, Run run, bool asked) noexcept {
  return serve_but(&self, run, asked);
}

std::uint32_t Engine::serve_others(Client& self, Run run) noexcept {
  return serve_but(&self, run, ask()).handled;
}

std::uint32_t Engine::serve_all() noexcept { return serve_but(nullptr, Run::all, ask()).handled; }

void Engine::serve_passive(Client& self) noexcept {
  if (!has_passive()) return;
  std::size_t at = 0;
  while (Client* const client = take(at, &self)) {
    if (client->kind_ == Client::Kind::passive && client->try_lock()) {
      (void)client->serve(Run::all);
      client->unlock();
    }
    return_to_sender(*client);
  }
}

bool Engine::is_this_thread(std::uintptr_t thread) noexcept { return thread == this_thread(); }

void Engine::begin_function() noexcept {
  if (functions_++ != 0) return;
  const std::uintptr_t me = this_thread();
  function_thread_.store(me, kRelaxed);
  const std::lock_guard lock(mutex_);
  for (Client* const client : clients_)
    if (client->home_.load(kRelaxed) == me) client->begin_function();
}

/// Asks all clients, since another thread may have become the home of one.
void Engine::end_function() noexcept {
  if (--functions_ != 0) return;
  function_thread_.store(0, kRelaxed);
  const std::lock_guard lock(mutex_);
  for (Client* const client : clients_) client->end_function();
}

Client* Engine::running() noexcept {
  const std::uintptr_t me = this_thread();
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(clients_.begin(), clients_.end(), [me](Client* client) {
    return client->home_.load(kRelaxed) == me && client->runs_handler();
  });
  return found == clients_.end() ? nullptr : *found;
}

/// The locks of the clients that sleep with `self`.
class Engine::Sleepers final : public shm::SleepLocks {
 public:
  Sleepers(Client* first, shm::SleepLocks* own) noexcept : first_(first), own_(own) {}
  void before_kernel() noexcept override {
    unlock_all();
    if (own_ != nullptr) own_->before_kernel();
  }
  void after_kernel() noexcept override {
    if (own_ != nullptr) own_->after_kernel();
  }
  void unlock_all() noexcept {
    if (!locked_) return;
    locked_ = false;
    for (Client* at = first_; at != nullptr; at = at->next_) at->unlock();
  }

 private:
  Client* first_;
  shm::SleepLocks* own_;
  bool locked_ = true;
};

void Engine::block(Client& self, std::int64_t timeout_ns, const std::function<bool()>& done,
                   shm::SleepLocks* held) noexcept {
  Client* first = nullptr;
  bool calm = true;
  bool capped = false;  // a client that another thread uses: that thread may leave it at any time
  std::size_t at = 0;
  while (Client* const client = is_alone() ? nullptr : take(at, &self, &capped)) {
    if (!client->try_lock()) {
      capped = true;
      return_to_sender(*client);
      continue;
    }
    if (!client->before_sleep()) calm = false;
    client->watched_ = client->watched();
    client->watched_.next = first != nullptr ? &first->watched_ : nullptr;
    client->next_ = first;
    first = client;
  }
  shm::Watched own = self.watched();
  own.next = first != nullptr ? &first->watched_ : nullptr;
  Sleepers locks(first, held);
  if (calm)
    shm::sleep(job_, own,
               {.timeout_ns = timeout_ns, .done = &done, .locks = &locks, .capped = capped});
  locks.unlock_all();
  while (first != nullptr) {
    Client* const next = first->next_;
    return_to_sender(*first);
    first = next;
  }
}

}  // namespace viaduct::via::channel
