#include "runtime/src/bootstrap_server.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <cerrno>
#include <cstring>

#include "runtime/src/job_bootstrap.hpp"
#include "viaduct/runtime/bootstrap.hpp"

namespace viaduct {
namespace {

using wire_format::Kind;
using wire_format::Message;

constexpr int kMessagesPerTurn =
    8;  // so that one rank that talks much does not keep the others waiting

}  // namespace

BootstrapServer::BootstrapServer(std::uint32_t size, Submit submit)
    : exchange_(size), ranks_(size), submit_(std::move(submit)) {
  hung_up_.reserve(size);
}

void BootstrapServer::open(Rank rank, FileDescriptor socket) {
  ranks_[index(rank)].socket = std::move(socket);
  ranks_[index(rank)].was_open = true;
}

std::string BootstrapServer::readable(Rank rank) {
  for (int turn = 0; turn < kMessagesPerTurn && is_open(rank); ++turn) {
    wire_format::Datagram datagram;
    const int problem = wire_format::receive(socket(rank), datagram, MSG_DONTWAIT);
    if (problem == EAGAIN) return {};
    if (problem != 0 || datagram.end_of_stream) {
      hang_up(rank);  // its process' end says the rest
      return {};
    }
    std::string complaint = handle(rank, datagram);
    if (!complaint.empty()) return complaint;
  }
  return {};
}

std::string BootstrapServer::writable(Rank rank) { return flush(rank); }

std::string BootstrapServer::handle(Rank rank, wire_format::Datagram& datagram) {
  if (datagram.truncated)
    return fmt::format("a message of more than {} bytes", wire_format::kMaxMessageBytes);
  std::string problem;
  const auto message = wire_format::decode(datagram.bytes, problem);
  if (!message) return problem;
  problem = dispatch(rank, *message, datagram.fd);
  return problem.empty() ? flush(rank) : problem;
}

std::string BootstrapServer::dispatch(Rank rank, const Message& message, FileDescriptor& fd) {
  if (message.rank >= exchange_.size()) return fmt::format("a message about rank {}", message.rank);
  switch (message.kind) {
    case Kind::put:
      return put(rank, message);
    case Kind::fence:
      return arrive(rank, FenceKind::everyone);
    case Kind::fence_survivors:
      return arrive(rank, FenceKind::survivors);
    case Kind::failing:
      ranks_[index(rank)].failed = true;
      return {};
    case Kind::fence_failed:
      ranks_[index(rank)].failed = true;
      return arrive(rank, FenceKind::failed);
    case Kind::get:
      answer_get(rank, message);
      return {};
    case Kind::share_fd:
      return share(rank, message.key, fd);
    case Kind::fetch_fd:
      answer_fetch(rank, message);
      return {};
    case Kind::barrier:
      return barrier(rank, message);
    case Kind::ending:
      submit_({link::Kind::ending, index(rank)});
      return {};
    case Kind::port_down:
    case Kind::port_up:
      submit_({link::Kind::port, index(rank), message.kind == Kind::port_down ? 1U : 0U});
      return {};
    case Kind::join:
      return "a request to join, though it has joined";
    default:
      return fmt::format("a message of kind {}, which only the launcher sends",
                         static_cast<unsigned>(message.kind));
  }
}

std::string BootstrapServer::put(Rank rank, const Message& message) {
  std::size_t& bytes = ranks_[index(rank)].put_bytes;
  bytes += message.key.size() + message.value.size();
  if (bytes > kMaxBytesPerRank)
    return fmt::format("more than {} bytes of bootstrap data", kMaxBytesPerRank);
  submit_({link::Kind::put, index(rank), 0, 0, std::string(message.key),
           std::vector<std::byte>(message.value.begin(), message.value.end())});
  return {};
}

std::string BootstrapServer::share(Rank rank, std::string_view key, FileDescriptor& fd) {
  auto& mine = ranks_[index(rank)].shared_fds;
  if (!fd.is_open()) return "a message that should carry a descriptor and does not";
  if (mine.find(key) != mine.end()) return "a second shared descriptor" + under_key(key);
  if (mine.size() >= Bootstrap::kMaxSharedFds)
    return fmt::format("more than {} shared descriptors", Bootstrap::kMaxSharedFds);
  mine.emplace(key, std::move(fd));
  return {};
}

int BootstrapServer::shared_fd(Rank owner, std::string_view key) const noexcept {
  const auto& shared = ranks_[index(owner)].shared_fds;
  const auto found = shared.find(key);
  return found != shared.end() ? found->second.get() : -1;
}

std::string BootstrapServer::arrive(Rank rank, FenceKind kind) {
  bool& waits = ranks_[index(rank)].waits;
  if (std::exchange(waits, true)) return "a second fence while it waits at the first";
  submit_({link::Kind::arrive, index(rank), static_cast<std::uint32_t>(kind)});
  return {};
}

std::string BootstrapServer::barrier(Rank rank, const Message& message) {
  std::uint32_t ticket = 0;
  if (message.value.size() != sizeof ticket) return "a barrier without its number";
  std::memcpy(&ticket, message.value.data(), sizeof ticket);
  submit_({link::Kind::barrier, index(rank), ticket});
  return {};
}

void BootstrapServer::apply(const link::Frame& event) {
  const Rank rank{event.rank};
  if (event.kind == link::Kind::put) return exchange_.put(rank, event.key, event.value);
  if (event.kind == link::Kind::lost) return lose(rank);
  if (event.kind != link::Kind::arrive) return;
  exchange_.arrive(rank, static_cast<FenceKind>(event.number));
  release_fences();
}

void BootstrapServer::answer_get(Rank rank, const Message& message) {
  const auto* const value = exchange_.get(Rank{message.rank}, message.key);
  answer(rank, value != nullptr ? Message{Kind::value, message.rank, {}, *value}
                                : Message{Kind::nothing, message.rank});
}

void BootstrapServer::answer_fetch(Rank rank, const Message& message) {
  const Rank owner{message.rank};
  if (shared_fd(owner, message.key) < 0) return answer(rank, {Kind::nothing, index(owner)});
  ranks_[index(rank)].queue.push_back({wire_format::encode({Kind::descriptor, index(owner)}), owner,
                                       true, std::string(message.key)});
}

void BootstrapServer::answer(Rank rank, const Message& message) {
  if (is_open(rank)) ranks_[index(rank)].queue.push_back({wire_format::encode(message)});
}

void BootstrapServer::release_fences() {
  for (const Exchange::Release& release : exchange_.take_released()) {
    ranks_[index(release.rank)].waits = false;
    answer(release.rank,
           release.failed ? Message{Kind::lost, index(release.culprit)} : Message{Kind::released});
    static_cast<void>(flush(release.rank));
  }
}

std::string BootstrapServer::flush(Rank rank) {
  PerRank& mine = ranks_[index(rank)];
  while (!mine.queue.empty() && mine.socket.is_open()) {
    const Answer& next = mine.queue.front();
    const int fd = next.with_descriptor ? shared_fd(next.descriptor_of, next.key) : -1;
    const bool gone = next.with_descriptor && fd < 0;  // its owner ended while the answer waited
    const int problem =
        gone ? wire_format::send(socket(rank),
                                 wire_format::encode({Kind::nothing, index(next.descriptor_of)}),
                                 -1, MSG_DONTWAIT)
             : wire_format::send(socket(rank), next.bytes, fd, MSG_DONTWAIT);
    if (problem == EAGAIN || problem == ETOOMANYREFS) {
      stalled_.push_back(rank);
      break;
    }
    if (problem != 0) return hang_up(rank), std::string{};
    mine.queue.pop_front();
  }
  if (mine.queue.size() > kMaxQueued)
    return fmt::format("{} questions without taking the answers", mine.queue.size());
  return {};
}

void BootstrapServer::lose(Rank rank) {
  exchange_.lose(rank);
  disconnect(rank);
  release_fences();
}

std::vector<Rank> BootstrapServer::take_hung_up() {
  std::vector<Rank> taken(hung_up_);
  hung_up_.clear();
  return taken;
}

void BootstrapServer::close(Rank rank) { disconnect(rank); }

/// The descriptors that the rank has shared stay until it is known whether the rank is lost: a rank
/// that is refused one must be able to see the loss.
void BootstrapServer::hang_up(Rank rank) noexcept {
  if (is_open(rank)) hung_up_.push_back(rank);  // in place: the constructor has reserved it
  close_socket(rank);
}

void BootstrapServer::close_socket(Rank rank) noexcept {
  ranks_[index(rank)].socket.reset();
  ranks_[index(rank)].queue.clear();
}

void BootstrapServer::disconnect(Rank rank) noexcept {
  close_socket(rank);
  ranks_[index(rank)].shared_fds.clear();
}

}  // namespace viaduct
