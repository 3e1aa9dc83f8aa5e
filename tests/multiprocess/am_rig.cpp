#include "tests/multiprocess/am_rig.hpp"
#include "viaduct/job.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include "via/channel/nic.hpp"
#include "viaduct/runtime/clock.hpp"

namespace viaduct::am_test {

namespace {

thread_local Rig* t_rig = nullptr;
thread_local std::uint32_t t_deferred = 0;
thread_local std::uint64_t t_markers = 0;

void on_counted(am::Token&) { ++t_deferred; }
void on_marker(am::Token&) { ++t_markers; }
void on_warm(am::Token&) {}
void on_warm_up(am::Token& token) { token.reply<on_warm>(); }

/// The eight bytes at @p at: a sanitizer sees one access to them, not eight.
std::uint64_t pattern(std::uint64_t seed, std::size_t at) noexcept {
  std::uint64_t x = (seed + 1) * 0x9E3779B97F4A7C15ULL + at * 0xD1B54A32D192ED03ULL;
  x ^= x >> 29;
  return x * 0xBF58476D1CE4E5B9ULL;
}

}  // namespace

Rig& here() noexcept { return *t_rig; }

void give_up(const std::string& what, Where where) {
  const auto& verdict = conformance::current_verdict();
  const std::string line = fmt::format("{}:{}: rank {}: {}: {}\n", where.file, where.line,
                                       verdict.rank, verdict.case_name, what);
  std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
  std::_Exit(1);
}

Rig::Rig(am::Context& context, std::uint64_t seed, am::Tag tag)
    : context_(context),
      rank_(index(context.job().rank())),
      size_(context.job().size()),
      random_(seed * 977 + rank_) {
  t_rig = this;
  t_markers = 0;
  bundle_ = std::make_unique<am::Bundle>(context);
  endpoint_ = std::make_unique<am::Endpoint>(*bundle_, tag);
  collect_returned(*endpoint_);
  const auto names = exchange(endpoint_->name());
  for (std::uint32_t r = 0; r < size_; ++r) ok(endpoint_->map(am::Index{r}, names[r], tag));
}

Rig::~Rig() {
  endpoint_.reset();
  bundle_.reset();
  t_rig = nullptr;
}

void Rig::barrier(Where where) { ok(bundle_->barrier(), where); }

void Rig::until(const std::function<bool()>& done, Where where) {
  const Status status = bundle_->wait_until(done, kLimitNs);
  if (status == Status::ok) return;
  std::string came_back;
  if (!back.empty())
    came_back = fmt::format("; {} messages have come back, the last one as {}", back.size(),
                            to_string(back.back().status));
  give_up(fmt::format("waited in vain, {}{}", to_string(status), came_back), where);
}

void Rig::drain(Where where) {
  // Markers go behind all else; those of the second round behind replies to what was before the
  // first.
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t r = 0; r < size_; ++r)
      ok(endpoint_->request<on_marker>(am::Index{r}), where);
    markers_wanted_ += size_;
    until([this] { return t_markers >= markers_wanted_; }, where);
    barrier(where);
  }
}

void Rig::ok(Status status, Where where) {
  if (status != Status::ok) give_up(fmt::format("answered {}", to_string(status)), where);
}

void Rig::collect_returned(am::Endpoint& endpoint) {
  endpoint.set_undeliverable_handler([this](const am::Returned& r) {
    back.push_back({r.status, r.operation, r.direction, am::value(r.peer), index(r.rank), r.handler,
                    std::vector<std::byte>(r.args, r.args + r.arg_bytes)});
  });
}

void Rig::until_waits_for_room(std::uint32_t rank, Where where) {
  if (context().nic().is_remote(Rank{rank})) return;
  const std::uint64_t start = monotonic_ns();
  while (activity_of(rank) != Activity::waiting_credit) {
    if (monotonic_ns() - start > static_cast<std::uint64_t>(kLimitNs))
      give_up(fmt::format("no message of rank {} waits for room", rank), where);
    sched_yield();
  }
}

void Rig::expect_all_credits(Where where) {
  ok(endpoint_->request<on_warm_up>(next()), where);  // the MAP exists
  const am::EndpointName name = endpoint_->translation_name(next());
  const am::Tag tag = endpoint_->translation_tag(next());
  ok(endpoint_->unmap(next()), where);  // waits for every credit
  ok(endpoint_->map(next(), name, tag), where);
  barrier(where);
  t_deferred = 0;
  fence();
  endpoint_->set_wait_run(am::Bundle::Run::replies);
  std::uint32_t accepted = 0;
  while (endpoint_->try_request<on_counted>(next()) == Status::ok &&
         accepted <= endpoint_->credits())
    ++accepted;
  conformance::check_equal(accepted, endpoint_->credits(),
                           "requests accepted by a peer that runs none", where);
  fence();
  endpoint_->set_wait_run(am::Bundle::Run::all);
  until([&] { return t_deferred >= endpoint_->credits(); }, where);
  barrier(where);
  conformance::check_equal(t_deferred, endpoint_->credits(), "requests handled afterwards", where);
}

void fill(std::span<std::byte> bytes, std::uint64_t seed) noexcept {
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::uint64_t word = pattern(seed, at);
    std::memcpy(&bytes[at], &word, std::min<std::size_t>(8, bytes.size() - at));
  }
}

std::size_t first_wrong(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::size_t length = std::min<std::size_t>(8, bytes.size() - at);
    const std::uint64_t wanted = pattern(seed, at);
    std::uint64_t word = wanted;
    std::memcpy(&word, &bytes[at], length);
    if (word != wanted) return at + static_cast<std::size_t>(std::countr_zero(word ^ wanted)) / 8;
  }
  return bytes.size();
}

std::int64_t thread_cpu_ns() noexcept {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const auto ns = [](const timeval& t) { return t.tv_sec * 1'000'000'000LL + t.tv_usec * 1000LL; };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

}  // namespace viaduct::am_test
