#pragma once
/// @file
/// The control path of provider verbs: control messages between the ranks of a job, which make and
/// end connections.
///
/// Each NIC and each transport of a rank has one unreliable-datagram queue pair. Its address
/// travels in the bootstrap. Each pair of ranks numbers its control messages. The receiver
/// acknowledges a control message when it has handled it; the sender repeats a message until it is
/// acknowledged.
///
/// A rank that computes handles no control messages for a long time, and is not lost. The thread of
/// Events answers each packet at once, also while the rank computes (answer()). So a rank that
/// gives no answer at all cannot be reached.

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "via/verbs/src/device.hpp"
#include "via/verbs/src/queue_pair.hpp"
#include "viaduct/job.hpp"

namespace viaduct::via::verbs {

class ControlPath {
 public:
  static constexpr std::size_t kMaxBytes = 272;
  using Handler = std::function<void(Rank from, std::span<const std::byte> message)>;

  /// Enters its queue pair in @p address. An event on @p channel with Events::control_context()
  /// tells of a control message.  Throws Error.
  ControlPath(Job& job, Device& device, ibv_comp_channel* channel, Address& address);
  ~ControlPath();
  ControlPath(const ControlPath&) = delete;
  ControlPath& operator=(const ControlPath&) = delete;

  /// The addresses of the other ranks. Once, before the first control message.
  void set_peers(std::vector<Address> addresses) { addresses_ = std::move(addresses); }
  [[nodiscard]] const Address& address_of(Rank rank) const noexcept {
    return addresses_[index(rank)];
  }

  /// Takes the memory for the next @p messages control messages: sending these never throws, where
  /// their receivers have sent something before.
  void reserve(std::size_t messages);
  /// Sends a control message of up to kMaxBytes.
  void send(Rank to, std::span<const std::byte> message);
  /// Sends an empty control message when for a second none has been under way to @p to: the answer
  /// shows whether @p to can still be reached.
  void probe(Rank to);
  /// Takes the control messages that have come, each once, in its sender's order; repeats those
  /// that are overdue.  Errors: a control message whose handler throws stays, and is the first one
  /// of the next call.
  void progress(const Handler& handler);
  /// Whether every control message has been acknowledged, and more could go.
  [[nodiscard]] bool all_delivered() const noexcept;
  /// Whether @p to has handled all control messages to it.
  [[nodiscard]] bool all_delivered(Rank to) const noexcept;
  /// Drops the control messages to @p to that have not been acknowledged.
  void forget(Rank to) noexcept;
  /// Peers to whom a control message has been repeated for @p ns or longer.
  [[nodiscard]] std::vector<Rank> silent_for(std::uint64_t ns) const;
  /// The silent peers to whom nothing could be sent for @p ns (the port here or there is down, or
  /// the device knows no route), and those silent for VIADUCT_VERBS_SILENCE. To be asked now and
  /// then, behind progress(): a time in which this rank does not ask counts little.  Cost: a system
  /// call while a peer is silent.
  [[nodiscard]] std::vector<Rank> out_of_reach(std::uint64_t ns);

  /// Whether progress() has a control message to hand over. From any thread.
  [[nodiscard]] bool control_waiting();

  /// At an event: takes in the packets that have come, tells the senders that this rank is there,
  /// though it may handle nothing for long, repeats overdue control messages to them, which they
  /// may wait for, and asks for an event at the next control message. From any thread.
  void answer() noexcept;

  /// Asks for an event at the next packet.
  void arm() noexcept { (void)ibv_req_notify_cq(queue_.get(), 0); }

  [[nodiscard]] std::uint64_t repeated() const noexcept { return repeated_; }

 private:
  struct Packet {
    std::uint32_t key = 0;  // of the receiver's queue pair
    std::uint32_t from = 0;
    std::uint32_t number = 0;        // of the control message; 0: none
    std::uint32_t acknowledged = 0;  // the last control message that has been handled
    std::uint32_t bytes = 0;         // of the control message
    std::uint32_t oldest = 0;  // control message that has not been given up; those before it have
    std::byte message[kMaxBytes] = {};
    static constexpr std::size_t kHeadBytes = 24;
  };
  /// A control message that waits for its acknowledgement, or has arrived.
  struct Message {
    Rank from{};
    std::uint32_t number = 0;
    std::uint32_t size = 0;
    std::byte data[kMaxBytes] = {};
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data, size}; }
  };
  using Messages = std::list<Message>;  // one moves between lists without memory
  struct Peer {
    ibv_ah* address_handle = nullptr;
    std::uint32_t last_sent = 0;     // number
    std::uint32_t last_taken = 0;    // number; it may still lie in arrived_
    std::uint32_t last_handled = 0;  // number
    Messages waiting;                // to be acknowledged
    std::uint64_t since_ns = 0;  // the oldest of them was first sent, or the last was acknowledged
    std::uint64_t sent_ns = 0;
    std::uint64_t patience_ns = 0;
    std::uint64_t heard_ns = 0;    // a packet of its came
    bool owes_answer = false;      // not all that has been handled is acknowledged
    bool owes_sign = false;        // it has sent, and heard nothing since
    bool told = false;             // the log has been told that there is no route
    std::uint64_t renewed_ns = 0;  // the route was looked for again
    // Of attended_ns_:
    std::uint64_t silent_since = 0;  // since_ns, or heard_ns, whichever is later
    std::uint64_t cut_since = 0;     // as far as out_of_reach() knows; 0: it is not
  };
  static constexpr std::uint32_t kReceives = 256;
  static constexpr std::uint32_t kSends = 64;
  static constexpr std::uint32_t kHeaderBytes = 40;  // the global header before each datagram
  static constexpr std::uint32_t kSlotBytes = 384;
  static_assert(kHeaderBytes + sizeof(Packet) <= kSlotBytes);
  static_assert(offsetof(Packet, message) == Packet::kHeadBytes);

  [[nodiscard]] bool find_address_handle(Rank to, Peer& peer);
  void transmit(Rank to, Peer& peer, const Message* waiting);
  void send_next(Rank to, Peer& peer, std::uint32_t count);
  void repeat(Rank to, Peer& peer, std::uint64_t now, bool& stalled);
  void take(const Packet& packet);
  static void put(Messages& list, Messages& memory, Rank from, std::uint32_t number,
                  std::span<const std::byte> bytes) noexcept;
  void drop_first(Messages& list) noexcept;
  void answer_once();
  void hand_over(const Handler& handler);
  void renew_address_handle(Peer& peer, std::uint64_t now);
  [[nodiscard]] int start();
  void restart();
  void post_receive(std::uint32_t slot) noexcept;
  void reap();
  [[nodiscard]] std::byte* slot(std::uint32_t number) noexcept {
    return buffer_.get() + std::size_t{number} * kSlotBytes;
  }

  // The thread of Events, and one that waits for the owner, look into it, too.
  mutable std::recursive_mutex mutex_;
  Job& job_;
  Device& device_;
  // Destroyed in the reverse order.
  std::unique_ptr<std::byte[]> buffer_;  // receives, then sends
  OwnedDomain domain_;
  OwnedRegion region_;
  OwnedQueue queue_;
  OwnedPair pair_;
  std::uint32_t key_ = 0;
  std::vector<Address> addresses_;
  std::unordered_map<std::uint32_t, Peer> peers_;
  std::vector<std::uint32_t> free_sends_;
  Messages arrived_;
  Messages spare_;
  std::uint64_t repeated_ = 0;
  // The time in which this rank has looked and repeated: between two looks of out_of_reach() it may
  // have computed, so that at most the longest patience counts.
  std::uint64_t attended_ns_ = 0;
  std::uint64_t looked_ns_ = 0;
  std::uint32_t receives_out_ = 0;   // posted, and not returned
  bool broken_ = false;              // the queue pair is in the error state, or about to be
  bool restart_refused_ = false;     // by the device, since then
  std::uint64_t restart_at_ns_ = 0;  // at the latest; 0: not broken
};

}  // namespace viaduct::via::verbs
