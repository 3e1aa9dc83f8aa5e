#include "via/vipl/src/library.hpp"

#include <stdlib.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include "via/vipl/underneath.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/log.hpp"

namespace viaduct::via::vipl {
namespace {

constexpr std::string_view kNamesKey = "via.vipl.names";

/// The provider of VIADUCT_PROVIDER, else the provider that reaches all ranks.
std::string default_provider(const Job& job) {
  const char* const wish = std::getenv("VIADUCT_PROVIDER");
  if (wish != nullptr && *wish != '\0') return wish;
  return job.hosts() == 1 ? "shm" : "verbs";
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

/// Called by exit(): ends the VIs for their peers, and the Job for the launcher.
void at_exit(int status, void* /*unused*/) noexcept {
  Library& lib = library();
  if (lib.notify != nullptr) lib.notify->stop();
  const Guard guard;
  guard->ended = true;
  if (guard->port == nullptr) return;
  guard->port->end(status == 0);
  guard->port.reset();
  guard->reports.clear();
  guard->has_reports = false;
}

VIP_ERROR_CODE code_of(ErrorCause cause) noexcept {
  switch (cause) {
    case ErrorCause::none:
    case ErrorCause::connection_lost:
    case ErrorCause::disconnected:
      return VIP_ERROR_CONN_LOST;
    case ErrorCause::receive_queue_empty:
      return VIP_ERROR_RECVQ_EMPTY;
    case ErrorCause::length:
    case ErrorCause::protection:
      return VIP_ERROR_COMP_PROT;
    case ErrorCause::queue_overrun:
      return VIP_ERROR_VI_OVERRUN;
    case ErrorCause::format:
      return VIP_ERROR_POST_DESC;
    case ErrorCause::transport:
      return VIP_ERROR_RDMA_TRANSPORT;
    case ErrorCause::rdma_write_refused:
      return VIP_ERROR_RDMAW_PROT;
    case ErrorCause::rdma_read_refused:
      return VIP_ERROR_RDMAR_PROT;
  }
  return VIP_ERROR_CATASTROPHIC;
}

}  // namespace

Port::Port(std::string_view provider) {
  config::load(&settings_, options());
  launched_ =
      std::getenv("VIADUCT_JOB_ID") != nullptr || std::getenv("VIADUCT_RENDEZVOUS") == nullptr;
  job_ = std::make_unique<Job>();
  provider_ = provider.empty() ? default_provider(*job_) : std::string(provider);
  const std::string names = settings_.name + '\0' + host_name();
  // open_nic() is collective: after it all names can be read.
  job_->bootstrap().put(kNamesKey, std::as_bytes(std::span(names)));
  nic_ = open_nic(*job_, provider_);
  depth_ = std::min(static_cast<std::uint32_t>(settings_.queue_depth),
                    nic_->attributes().max_queue_depth);
  max_transfer_ = std::min(static_cast<std::uint64_t>(settings_.max_transfer),
                           std::uint64_t{nic_->attributes().max_transfer_bytes});
  address_ = host_address(job_->rank());
  control_ = std::make_unique<Control>(
      *job_, *nic_, [this](Rank from, const Message& m) { handle_message(*this, from, m); });
  nic_->on_error([this](const AsyncError& error) { on_error(error); });
  static const int registered = on_exit(at_exit, nullptr);
  (void)registered;
}

Port::~Port() = default;

Underneath underneath() noexcept {
  const Guard guard;
  if (guard->port == nullptr) return {};
  return {&guard->port->job(), &guard->port->nic()};
}

void Port::end(bool well) noexcept {
  while (!vis.empty()) {
    disconnect(*this, *vis.back());
    destroy(*this, *vis.back());
  }
  while (!queues.empty()) destroy(*this, *queues.back());
  regions = Regions();
  constexpr std::uint64_t kLastWordsNs = 200'000'000;
  for (const std::uint64_t begin = monotonic_ns();
       control_->is_busy() && monotonic_ns() - begin < kLastWordsNs;)
    progress();
  control_.reset();
  nic_->on_error([](const AsyncError&) {});
  nic_.reset();
  // The Job's end waits for all ranks, as a launcher wants it. Processes that were started one by
  // one, and one that has failed, end when they like: for the others they are gone.
  if (launched_ && well)
    job_.reset();
  else
    (void)job_.release();
}

Port::Names Port::names_of(Rank rank) {
  const std::vector<std::byte> bytes = job_->bootstrap().get(rank, kNamesKey);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t middle = std::min(text.find('\0'), text.size());
  return {std::string(text.substr(0, middle)),
          std::string(text.substr(std::min(middle + 1, text.size())))};
}

void Port::progress() noexcept {
  try {
    control_->progress();
  } catch (const std::exception& e) {
    job_->log().write(LogLevel::error, e.what());
  }
}

void Port::on_error(const AsyncError& error) noexcept {
  if (error.vi == nullptr) return;
  Vi* const vi = static_cast<ViOwner*>(error.vi->attributes().context)->user;
  if (vi != nullptr) record_loss(*vi, error.cause);
}

void record_loss(Vi& vi, ErrorCause cause) noexcept {
  vi.lost = true;
  if (vi.reported || vi.phase != Phase::connected) return;
  vi.reported = true;
  Library& lib = library();
  if (vi.nic->on_error == nullptr) {
    if (cause != ErrorCause::disconnected)
      lib.port->job().log().write(LogLevel::warn, std::string("VIPL: a VI to rank ") +
                                                      std::to_string(index(vi.peer)) +
                                                      " has failed: " + to_string(cause));
    return;
  }
  Report report{vi.nic->on_error, vi.nic->error_context, {}};
  report.error.NicHandle = vi.nic->handle;
  report.error.ViHandle = vi.handle;
  report.error.ResourceCode = VIP_RESOURCE_VI;
  report.error.ErrorCode = code_of(cause);
  try {
    lib.reports.push_back(report);
    lib.has_reports = true;
  } catch (const std::bad_alloc&) {  // the program hears of it by the VI's state
  }
}

/// One handler at a time: where one runs, in whichever thread, the call that has called it goes on
/// with these reports.
void Guard::leave_reporting() noexcept {
  if (library_.is_telling) return library_.lock.leave(alone_);
  library_.is_telling = true;
  while (library_.has_reports) {
    std::vector<Report> reports = std::exchange(library_.reports, {});
    library_.has_reports = false;
    library_.lock.leave(alone_);
    for (Report& report : reports) report.handler(report.context, &report.error);
    alone_ = library_.lock.enter();
  }
  library_.is_telling = false;
  library_.lock.leave(alone_);
}

std::uint64_t deadline_of(VIP_ULONG timeout_ms) noexcept {
  constexpr VIP_ULONG kInfinite32 = 0xffffffff;
  constexpr std::uint64_t kNsPerMs = 1'000'000;
  if (timeout_ms >= kInfinite32) return ~std::uint64_t{0};
  return monotonic_ns() + timeout_ms * kNsPerMs;
}

}  // namespace viaduct::via::vipl
