#include "runtime/src/join.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/errors/codes.hpp"
#include "runtime/job_size.hpp"
#include "runtime/src/agent.hpp"
#include "runtime/src/handshake.hpp"
#include "runtime/src/host.hpp"
#include "runtime/src/launch_variables.hpp"
#include "runtime/src/wire_format.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

using handshake::Caller;
using handshake::Role;
using link::Clock;
using link::Frame;
using link::Kind;

// Beyond the limit that the hub keeps, and which lets it name the missing ranks.
constexpr auto kHubsOwnTime = std::chrono::seconds(2);
constexpr auto kGreeting = std::chrono::seconds(10);
constexpr auto kCallAgain = std::chrono::seconds(1);

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

class Joining {
 public:
  explicit Joining(Rendezvous&& rendezvous) : rendezvous_(std::move(rendezvous)) {
    self_.role = Role::rank;
    self_.rank = rendezvous_.rank;
    self_.size = rendezvous_.size;
    self_.pid = ::getpid();
    self_.host_key = handshake::fixed_text<64>(host_key());
    self_.host_name = handshake::fixed_text<64>(host_name());
  }

  Launch run() {
    if (rendezvous_.listener.is_open()) start_hub();
    hub_ = call_hub(self_);
    const Frame table = next(Kind::table);
    read_table(table);
    if (is_lowest_here() && here_ != hosts_.front()) start_host_agent();
    static_cast<void>(next(Kind::ready));
    const Launch launch = enter();
    hub_.send({Kind::ready});  // the agent watches this rank from here on
    hub_.flush_until(Clock::now() + kGreeting);
    return launch;
  }

 private:
  void start_hub() {
    AgentPlan plan;
    plan.secret = rendezvous_.secret;
    plan.size = rendezvous_.size;
    plan.limit = rendezvous_.limit;
    plan.listener = std::move(rendezvous_.listener);
    start_agent(std::move(plan));
  }

  void start_host_agent() {
    AgentPlan plan;
    plan.secret = rendezvous_.secret;
    plan.size = rendezvous_.size;
    plan.limit = rendezvous_.limit;
    plan.job_id = job_id_;
    plan.hosts = hosts_;
    plan.here = here_;
    plan.founder = rendezvous_.rank;
    plan.local = listen_for_ranks(rendezvous_.secret, job_id_, here_);
    Caller agent = self_;
    agent.role = Role::agent;
    agent.rank = here_;
    plan.hub = call_hub(agent);
    start_agent(std::move(plan));
  }

  link::Link call_hub(const Caller& caller) const {
    std::string problem;
    const auto limit = Clock::now() + rendezvous_.limit;
    FileDescriptor socket = connect_to(rendezvous_.addresses, limit, problem);
    if (!socket.is_open()) {
      throw Error(errors::job_not_begun, std::errc::timed_out,
                  fmt::format("rank {}{}: no hub answers at {} ({}): rank 0, which opens it, "
                              "has not come within {} s (VIADUCT_JOIN_TIMEOUT), or is alone by its "
                              "VIADUCT_SIZE, or the job has given up, or the address is wrong",
                              rendezvous_.rank, of_size(), rendezvous_.shown, problem,
                              seconds(rendezvous_.limit)));
    }
    return greet(std::move(socket), caller, limit);
  }

  [[nodiscard]] std::string of_size() const {
    return rendezvous_.size == handshake::kAskRankZero ? ""
                                                       : fmt::format(" of {}", rendezvous_.size);
  }

  /// A hub with too many unauthenticated callers drops the connection that has waited longest: the
  /// hub is called again, unless it has ended.
  link::Link greet(FileDescriptor socket, const Caller& caller, Clock::time_point limit) const {
    for (;;) {
      try {
        const auto greeted =
            Clock::now() + std::min<std::chrono::nanoseconds>(kGreeting, rendezvous_.limit);
        return handshake::greet_hub(std::move(socket), caller, rendezvous_.secret,
                                    rendezvous_.shown, greeted);
      } catch (const Error& e) {
        if (e.code() != std::errc::connection_aborted || Clock::now() >= limit) throw;
        std::string problem;
        socket =
            connect_to(rendezvous_.addresses, std::min(limit, Clock::now() + kCallAgain), problem);
        if (!socket.is_open()) throw;
      }
    }
  }

  Frame next(Kind wanted) {
    auto frame = hub_.receive_until(Clock::now() + rendezvous_.limit + kHubsOwnTime);
    if (frame && frame->kind == Kind::failed)
      throw Error(errors::job_not_begun, std::errc::operation_canceled,
                  "the job cannot begin: " + frame->key);
    if (frame && frame->kind == wanted) return std::move(*frame);
    const bool silent = hub_.is_open();
    throw Error(errors::job_not_begun,
                silent ? std::errc::timed_out : std::errc::connection_aborted,
                fmt::format("the hub at {} {} while this rank waited for the others",
                            rendezvous_.shown, silent ? "says nothing" : "ended"));
  }

  void read_table(const Frame& table) {
    static_assert(kMaxJobSize * sizeof(std::uint32_t) <= link::kMaxValue);
    job_id_ = table.key;
    if (rendezvous_.size == handshake::kAskRankZero) {
      rendezvous_.size = static_cast<std::uint32_t>(
          std::min<std::size_t>(table.value.size() / sizeof(std::uint32_t), kMaxJobSize));
      self_.size = rendezvous_.size;
    }
    hosts_.resize(rendezvous_.size);
    if (table.value.size() != hosts_.size() * sizeof(std::uint32_t) ||
        rendezvous_.rank >= rendezvous_.size)
      throw Error(errors::not_the_hub, std::errc::protocol_error,
                  "the hub's list of hosts has the wrong length");
    std::memcpy(hosts_.data(), table.value.data(), table.value.size());
    here_ = hosts_[rendezvous_.rank];
  }

  [[nodiscard]] bool is_lowest_here() const {
    return std::find(hosts_.begin(), hosts_.end(), here_) ==
           hosts_.begin() + static_cast<std::ptrdiff_t>(rendezvous_.rank);
  }

  Launch enter() {
    Launch launch;
    launch.mode = Launch::Mode::processes;
    launch.rank = rendezvous_.rank;
    launch.size = rendezvous_.size;
    launch.keep_going = true;
    FileDescriptor socket = connect_to_agent(rendezvous_.secret, job_id_, here_);
    wire_format::Datagram answer;
    const int problem = wire_format::send(
        socket.get(), wire_format::encode({wire_format::Kind::join, rendezvous_.rank}), -1, 0);
    const bool answered = problem == 0 && wire_format::readable_within(socket.get(), patience()) &&
                          wire_format::receive(socket.get(), answer, 0) == 0;
    if (!answered || !answer.fd.is_open()) {
      std::string ignored;
      const auto said = wire_format::decode(answer.bytes, ignored);
      const bool reason = said && said->kind == wire_format::Kind::refused;
      throw Error(errors::job_not_begun, std::errc::connection_refused,
                  "the agent of this host does not take this rank in" +
                      (reason ? ": " + std::string(said->key) : std::string{}));
    }
    wire_format::Datagram second;
    if (wire_format::readable_within(socket.get(), patience()))
      static_cast<void>(wire_format::receive(socket.get(), second, 0));
    launch.socket = socket.get();
    launch.page = answer.fd.get();
    tell_environment(launch);
    // The environment names them: the Job takes over the socket and the lifeline, and the page
    // stays open as long as the process.
    static_cast<void>(socket.release());
    static_cast<void>(answer.fd.release());
    launch.lifeline = second.fd.release();
    return launch;
  }

  [[nodiscard]] std::chrono::milliseconds patience() const {
    return std::chrono::ceil<std::chrono::milliseconds>(rendezvous_.limit);
  }

  void tell_environment(const Launch& launch) const {
    const auto set = [](const char* name, const std::string& value) {
      ::setenv(name, value.c_str(), 1);
    };
    set(launch::kJobId, job_id_);
    set(launch::kMode, "processes");
    set(launch::kRank, std::to_string(launch.rank));
    set(launch::kSize, std::to_string(launch.size));
    set(launch::kSocket, std::to_string(launch.socket));
    set(launch::kPage, std::to_string(launch.page));
    set(launch::kKeepGoing, "1");
  }

  Rendezvous rendezvous_;
  Caller self_{};
  link::Link hub_;
  std::string job_id_;
  std::vector<std::uint32_t> hosts_;
  std::uint32_t here_ = 0;
};

}  // namespace

Launch join(Rendezvous rendezvous) {
  if (rendezvous.size == 1) return {};
  return Joining(std::move(rendezvous)).run();
}

}  // namespace viaduct
