#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "runtime/errors/codes.hpp"
#include "via/fault/provider.hpp"
#include "via/fault/src/fault.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"

namespace viaduct::via::fault {

Nic::Nic(Job& job, std::unique_ptr<via::Nic> inner, std::string_view name, Plan plan)
    : job_(job),
      inner_(std::move(inner)),
      plan_(std::move(plan)),
      dice_(plan_, index(job.rank())),
      attributes_(inner_->attributes()),
      ticks_per_ns_(ticks_per_ns()) {
  attributes_.name = name;
  if (plan_.delays()) attributes_.inline_bytes = 0;  // sends in the line are read later
  if (!doubles()) return;
  attributes_.max_queue_depth /= 2;
  attributes_.max_completion_queue /= 2;
}

MemoryRegion Nic::register_memory(ProtectionTag tag, std::byte* address, std::size_t bytes,
                                  Rights rights) {
  if (dice_.falls_on(Kind::refuse))
    throw Error(errors::regions_used_up, std::errc::not_enough_memory,
                fmt::format("{} refuses to register {} bytes, as seed {} has it", attributes_.name,
                            bytes, plan_.seed));
  return inner_->register_memory(tag, address, bytes, rights);
}

// Sizes are checked here where those underneath are twice as large, so that no product overflows
// and the sentences have this NIC's numbers. Otherwise the provider underneath checks them.

void Nic::check_depth(const char* which, std::uint32_t depth) const {
  if (!doubles()) return;
  if (depth == 0 || depth > attributes_.max_queue_depth)
    throw Error(errors::bad_attributes, std::errc::invalid_argument,
                fmt::format("{} depth {}: {} allows 1 to {}", which, depth, attributes_.name,
                            attributes_.max_queue_depth));
}

void Nic::check_capacity(std::size_t capacity) const {
  if (!doubles()) return;
  if (capacity == 0 || capacity > attributes_.max_completion_queue)
    throw Error(errors::bad_attributes, std::errc::invalid_argument,
                fmt::format("completion queue of {} entries: {} allows 1 to {}", capacity,
                            attributes_.name, attributes_.max_completion_queue));
}

std::unique_ptr<via::CompletionQueue> Nic::create_completion_queue(std::size_t capacity) {
  check_capacity(capacity);
  auto inner = inner_->create_completion_queue(doubles() ? 2 * capacity : capacity);
  return std::make_unique<CompletionQueue>(*this, std::move(inner), capacity);
}

std::unique_ptr<via::Vi> Nic::create_vi(const ViAttributes& attributes) {
  return std::make_unique<Vi>(*this, attributes);
}

Status Nic::listen(std::uint64_t discriminator, ConnectionRequest& out, std::int64_t timeout_ns) {
  const std::uint64_t start = monotonic_ns();
  for (;;) {
    move_lines();
    const auto waited = static_cast<std::int64_t>(monotonic_ns() - start);
    const std::int64_t left = timeout_ns < 0 ? -1 : std::max<std::int64_t>(timeout_ns - waited, 0);
    const Status status = inner_->listen(discriminator, out, wait_at_most(left));
    tell_errors();
    if (status != Status::timeout || left == 0) return status;
  }
}

Status Nic::accept(const ConnectionRequest& request, via::Vi& vi) {
  auto& ours = static_cast<Vi&>(vi);
  if (ours.broken()) return Status::bad_state;
  const Status status = inner_->accept(request, ours.inner());
  tell_errors();
  return status;
}

void Nic::on_error(std::function<void(const AsyncError&)> callback) {
  const bool is_set = static_cast<bool>(callback);
  errors_.set(std::move(callback));
  if (!is_set) {
    inner_->on_error({});
    return;
  }
  inner_->on_error([this](const AsyncError& below) {
    AsyncError error = below;
    if (below.vi != nullptr) error.vi = static_cast<Vi*>(below.vi->attributes().context);
    for (CompletionQueue* queue : queues_)
      if (&queue->inner() == below.queue) error.queue = queue;
    report(error);
  });
}

void Nic::report(const AsyncError& error) noexcept {
  if (!errors_.add(error) && error.cause != ErrorCause::disconnected)
    job_.log().write(LogLevel::warn, fmt::format("{}: VI to rank {} failed: {}", attributes_.name,
                                                 index(error.peer), to_string(error.cause)));
}

void Nic::tell_errors() noexcept {
  errors_.tell([this](const AsyncError& error) { report(error); });
}

void Nic::progress() noexcept {
  move_lines();
  inner_->progress();
  tell_errors();
}

void Nic::remove(Vi& vi) noexcept {
  std::erase(vis_, &vi);
  errors_.forget(vi);
}

void Nic::remove(CompletionQueue& queue) noexcept {
  std::erase(queues_, &queue);
  errors_.forget(queue);
}

bool Nic::has(const Vi& vi) const noexcept {
  return std::find(vis_.begin(), vis_.end(), &vi) != vis_.end();
}

double Nic::departure(std::uint32_t bytes, bool both_ways) noexcept {
  const double start = std::max(static_cast<double>(ticks_now()), free_at_);
  const double transfer = plan_.byte_ns * bytes;
  free_at_ = start + (plan_.gap_ns + transfer) * ticks_per_ns_;
  return start + (plan_.latency_ns * (both_ways ? 2 : 1) + transfer) * ticks_per_ns_;
}

/// By index: a callback of the provider underneath may make a VI meanwhile.
void Nic::move_lines(bool all) noexcept {
  for (std::size_t i = 0; i < vis_.size(); ++i) vis_[i]->move_line(all);
}

bool Nic::failure_waits() const noexcept {
  return std::any_of(vis_.begin(), vis_.end(), [](const Vi* vi) { return vi->failure_waits(); });
}

void Nic::tell_armed_queues() {
  for (CompletionQueue* queue : queues_) queue->tell_of_failure();
}

bool Nic::any_queue_armed() const noexcept {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const CompletionQueue* queue) { return queue->is_armed(); });
}

double Nic::soon() const noexcept {
  constexpr double kLookAgainNs = 100'000;
  return static_cast<double>(ticks_now()) + kLookAgainNs * ticks_per_ns_;
}

std::int64_t Nic::wait_at_most(std::int64_t timeout_ns) const noexcept {
  double first = 0;
  for (const Vi* vi : vis_) {
    const double next = vi->next_departure();
    if (next != 0 && (first == 0 || next < first)) first = next;
  }
  if (first == 0) return timeout_ns;
  const double ticks = first - static_cast<double>(ticks_now());
  const auto ns = static_cast<std::int64_t>(std::max(ticks / ticks_per_ns_, 0.0));
  return timeout_ns < 0 ? ns : std::min(ns, timeout_ns);
}

void Nic::be_busy(double ns) const noexcept {
  if (ns == 0) return;
  const std::uint64_t start = ticks_now();
  const auto ticks = static_cast<std::uint64_t>(ns * ticks_per_ns_);
  while (ticks_now() - start < ticks) {
  }
}

std::unique_ptr<via::Nic> open(Job& job, std::string_view name) {
  Plan plan = read_plan(name);
  auto inner = open_nic(job, plan.provider);
  if (index(job.rank()) == 0)
    std::fprintf(stderr, "viaduct: provider %s injects delays and failures, seed %llu\n",
                 std::string(name).c_str(), static_cast<unsigned long long>(plan.seed));
  return std::make_unique<Nic>(job, std::move(inner), name, std::move(plan));
}

}  // namespace viaduct::via::fault
