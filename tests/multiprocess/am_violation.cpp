/// @file
/// Breaks one rule of Active Messages, as the argument says, and must not come to its end.

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"

namespace {

using namespace viaduct;

thread_local am::Endpoint* t_endpoint = nullptr;
thread_local am::Bundle* t_bundle = nullptr;
thread_local std::unique_ptr<am::Bundle> t_other;
thread_local std::string_view t_how;
thread_local bool t_done = false;

bool is(std::string_view how) { return t_how == how; }

void on_other(am::Token&) {}
void on_bulk(am::Token&, std::span<int>) {}
void on_medium(am::Token&, std::span<const int>) {}
void on_innocent(am::Token&) { t_done = true; }
void on_question(am::Token& token) {
  token.reply<on_innocent>();
  t_done = true;
}

/// A child that the handler forks must not answer for it. The rank ends as its child did.
void reply_in_child(am::Token& token) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (is("reply_in_child")) token.reply<on_innocent>();
    if (is("medium_reply_in_child")) (void)token.reply_medium<on_medium>(std::span<const int>());
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) ::raise(WTERMSIG(status));
}

/// Two bundles, two threads, one NIC.
void poll_two_bundles(am::Context& context, am::Bundle& bundle) {
  am::Bundle other(context);
  std::thread second([&] {
    while (true) (void)other.poll();
  });
  for (const std::uint64_t start = monotonic_ns(); monotonic_ns() - start < 60'000'000'000;)
    (void)bundle.poll();
  std::_Exit(3);
}

/// A sequential bundle, and a thread that comes while another one waits. try_request's inline path
/// looks at no thread, so that it is stopped when it has used the credits up. Until then nothing
/// may come in, which the waiting thread would handle at the same moment: the last rank sleeps. A
/// medium request is stopped, though there are credit and room for it: the first one is the only
/// one.
void use_from_two_threads(Job& job, am::Bundle& bundle, am::Endpoint& endpoint) {
  const am::Index last{job.size() - 1};
  const bool mediums = is("medium_request_beside_wait");
  const bool shorts = is("try_request_beside_wait");
  if (mediums || shorts) {
    (void)endpoint.request<on_question>(last);
    (void)bundle.wait_until([&] { return t_done; }, 20'000'000'000);
  }
  std::thread second([&] {
    const auto& activity = job.record(job.rank()).activity;
    while (activity.load() != Activity::waiting_message) std::this_thread::yield();
    while (shorts) (void)endpoint.try_request<on_other>(last);
    if (mediums) {
      (void)endpoint.request_medium<on_medium>(last, std::vector<int>(128));
      std::_Exit(3);
    }
    (void)endpoint.request<on_other>(last);
  });
  second.detach();
  (void)bundle.wait_until([] { return false; }, 20'000'000'000);
  std::_Exit(3);
}

/// A library whose handlers no rank knows: it comes after the Context.
void request_of_late_library(am::Endpoint& endpoint, am::Index to) {
  void* const library = ::dlopen(VIADUCT_TEST_LATE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::puts(::dlerror());
  using Send = void (*)(am::Endpoint&, am::Index);
  const auto send =
      library != nullptr ? reinterpret_cast<Send>(::dlsym(library, "send_late")) : nullptr;
  if (send != nullptr) send(endpoint, to);
}

/// Sends a message back that cannot go back, or with arguments that no message has.
void send_back_wrongly(am::Token& token) {
  constexpr std::array<std::uint64_t, am::kMaxArgs + 1> words{};
  const auto back = [&](std::size_t count, std::size_t bytes, am::Undeliverable why) {
    token.send_back(why, std::span(words).first(count), bytes);
  };
  constexpr auto kWhy = am::Undeliverable::bad_tag;
  if (is("send_back_twice")) back(0, 0, kWhy);
  if (is("send_back_replied")) token.reply<on_innocent>();
  if (is("send_back_twice") || is("send_back_replied")) back(0, 0, kWhy);
  if (is("send_back_of_words")) back(words.size(), 0, kWhy);
  if (is("send_back_of_bytes")) back(1, 9, kWhy);
  if (is("send_back_of_none")) back(0, 0, am::Undeliverable::none);
  if (is("send_back_of_status")) back(0, 0, static_cast<am::Undeliverable>(200));
  if (is("send_back_of_null")) token.send_back(kWhy, {static_cast<std::uint64_t*>(nullptr), 1}, 8);
}

/// What no handler may do.
void misbehave(am::Token& token) {
  if (is("request_in_request") || is("request_in_reply"))
    (void)t_endpoint->request<on_other>(am::Index{0});
  if (is("try_request_in_request")) (void)t_endpoint->try_request<on_other>(am::Index{0});
  if (is("raw_request_in_request"))
    (void)t_endpoint->request_raw(am::Index{0}, am::HandlerId{1}, {});
  if (is("poll_in_request") || is("poll_in_reply")) (void)t_bundle->poll();
  if (is("wait_in_request")) (void)t_bundle->wait(1000);
  if (is("wait_until_in_request")) (void)t_bundle->wait_until([] { return true; });
  if (is("barrier_in_request")) (void)t_bundle->barrier();
  if (is("reply_in_child") || is("medium_reply_in_child")) reply_in_child(token);
  if (is("bundle_in_request")) am::Bundle made(t_bundle->context());
  if (is("bundle_end_in_reply")) t_other.reset();
  if (is("unmap_in_request")) (void)t_endpoint->unmap(am::Index{0});
}

void on_guilty_reply(am::Token& token) {
  misbehave(token);
  if (is("reply_to_reply")) token.reply<on_other>();
  t_done = true;
}
void on_guilty(am::Token& token) {
  if (is("request_in_reply") || is("poll_in_reply") || is("bundle_end_in_reply") ||
      is("reply_to_reply"))
    return token.reply<on_guilty_reply>();
  misbehave(token);
  send_back_wrongly(token);
  if (is("send_back_then_reply")) {
    token.send_back(am::Undeliverable::bad_tag, {}, 0);
    token.reply<on_innocent>();
  }
  if (is("reply_twice")) {
    token.reply<on_innocent>();
    token.reply<on_innocent>();
  }
  if (is("bulk_reply_twice")) {
    token.reply<on_innocent>();
    (void)token.reply_bulk<on_bulk>(std::span<int>(), 0);
  }
  t_done = true;
}
/// By way of a second line, which the inline path does not take.
struct Long {
  char bytes[100];
};
void on_guilty_long(am::Token& token, Long) { on_guilty(token); }

void on_filling(am::Token& token, std::span<std::byte>) {
  misbehave(token);
  if (is("send_back_of_get")) token.send_back(am::Undeliverable::bad_tag, {}, 0);
}

int body(Job& job, int argc, char** argv) {
  t_how = argc > 1 ? argv[1] : "";
  const bool long_form = argc > 2;
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  if (!is("default_handler_0") && !is("default_handler_0_here") && !is("late_library"))
    endpoint.set_undeliverable_handler(
        [](const am::Returned&) {});  // the other rank's end is not what is told here
  t_endpoint = &endpoint;
  t_bundle = &bundle;
  if (is("bundle_end_in_reply")) t_other = std::make_unique<am::Bundle>(context);
  const am::Index last{job.size() - 1};
  if (index(job.rank()) == 0) {
    if (is("default_handler_0")) (void)endpoint.request_raw(last, am::HandlerId{9}, {});
    if (is("default_handler_0_here")) (void)endpoint.request<on_innocent>(am::Index{700});
    if (is("request_in_handler_0")) {
      endpoint.set_undeliverable_handler(
          [](const am::Returned&) { (void)t_endpoint->request<on_other>(am::Index{0}); });
      (void)endpoint.request<on_innocent>(am::Index{700});
    }
    if (is("endpoint_left")) {
      std::unique_ptr<am::Endpoint> left;  // ends behind the bundle
      am::Bundle ends(context);
      left = std::make_unique<am::Endpoint>(ends);
    }
    if (is("poll_two_bundles")) poll_two_bundles(context, bundle);
    if (is("request_beside_wait") || is("try_request_beside_wait") ||
        is("medium_request_beside_wait"))
      use_from_two_threads(job, bundle, endpoint);
    if (is("late_library")) request_of_late_library(endpoint, last);
    if (is("poll_in_get") || is("send_back_of_get")) {
      if (is("poll_in_get")) t_how = "poll_in_request";
      std::vector<std::byte> data;
      (void)endpoint.get<on_filling>(last, std::span(data), 0);
    }
    if (long_form)
      (void)endpoint.request<on_guilty_long>(last, Long{});
    else if (!is("default_handler_0") && !is("late_library"))
      (void)endpoint.request<on_guilty>(last);
  }
  (void)bundle.wait_until([] { return t_done; }, 50'000'000'000);
  if (is("try_request_beside_wait") || is("medium_request_beside_wait")) ::pause();
  std::puts("nothing stopped this rank");
  return 3;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
