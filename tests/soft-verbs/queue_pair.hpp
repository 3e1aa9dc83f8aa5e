#pragma once
/// @file
/// A queue pair: requester and responder of a reliable connection, or of datagrams. All functions
/// are called with the context's lock held.

#include <infiniband/verbs.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "tests/soft-verbs/context.hpp"
#include "tests/soft-verbs/operations.hpp"

namespace soft_verbs {

struct SendRequest {
  std::uint64_t id = 0;
  std::uint64_t number = 0;  // of all that the pair has been given
  Operation operation{};
  bool immediate = false;
  bool signalled = false;
  bool fenced = false;
  bool solicited = false;
  bool inlined = false;
  std::uint32_t value = 0;  // immediate
  std::uint32_t key = 0;
  std::uint32_t length = 0;
  std::uint64_t address = 0;
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;
  std::vector<ibv_sge> segments;
  std::vector<std::byte> bytes;  // inline
  // Of datagrams.
  Place to;
  std::uint32_t to_pair = 0;
  // On its way.
  bool begun = false;          // its packets have numbers
  std::uint32_t first = 0;     // number of the first
  std::uint32_t packets = 0;   // that it takes, of its answer if it reads
  std::uint32_t sent = 0;      // the next one; after a loss an earlier one again
  std::uint32_t received = 0;  // packets of the answer
};

class QueuePair : public ibv_qp {
 public:
  QueuePair(ibv_pd* domain, const ibv_qp_init_attr& wanted, std::uint32_t number);

  // queue_pair.cpp
  [[nodiscard]] int modify(const ibv_qp_attr& attributes, int mask);
  void query(ibv_qp_attr& attributes, ibv_qp_init_attr& initial) const;
  [[nodiscard]] int post(ibv_send_wr& request);
  [[nodiscard]] int post(const ibv_recv_wr& request);
  void sends_reaped(std::uint64_t number);
  void receive_reaped();
  /// To the error state: what is posted is flushed. @p event tells the program, -1: nothing does.
  void fail(int event = -1);
  /// Drops all that it has in queues.
  void leave_queues();

  // requester.cpp
  /// Sends what may be sent now.
  void advance();
  void take_answer(const Packet& packet, const std::byte* payload, std::size_t bytes);
  void take_pong(const Packet& packet);
  /// The peer's context is no more.
  void peer_gone();
  void run_timer(std::uint64_t now);
  [[nodiscard]] bool talks_to(std::uint32_t link) const;

  // responder.cpp
  void take_request(const Packet& packet, const std::byte* payload, std::size_t bytes);
  void take_ping(const Packet& packet);
  void acknowledge();

  // datagram.cpp
  void take_datagram(const Packet& packet, const std::byte* payload, std::size_t bytes);

 private:
  [[nodiscard]] Context& owner() const { return context_of(context); }
  [[nodiscard]] bool takes_packets() const;
  [[nodiscard]] bool holds_requests() const;
  [[nodiscard]] int check_transition(const ibv_qp_attr& attributes, int mask) const;
  [[nodiscard]] int check_values(const ibv_qp_attr& attributes, int mask) const;
  [[nodiscard]] int check_route(const ibv_qp_attr& attributes);
  void take_values(const ibv_qp_attr& attributes, int mask);
  void reset();
  [[nodiscard]] int fill(SendRequest& out, const ibv_send_wr& request) const;
  void flush();
  void flush_sends();
  void come_to_error(ibv_wc_status status);

  void finish_send(ibv_wc_status status);
  void finish_receive(const ibv_wc& completion, bool solicited);

  // Requester.
  [[nodiscard]] bool begin(SendRequest& request);
  [[nodiscard]] ibv_wc_status check_memory(const SendRequest& request) const;
  [[nodiscard]] bool send_packet(SendRequest& request);
  [[nodiscard]] bool may_begin(const SendRequest& request) const;
  [[nodiscard]] Packet make_packet(const SendRequest& request) const;
  void gather(const SendRequest& request, std::size_t at, std::size_t bytes,
              std::vector<iovec>& out) const;
  [[nodiscard]] bool complete_through(std::uint32_t number);
  void refused(const Packet& packet);
  void wait_for_receiver(std::uint32_t code);
  void retry();
  void rewind();
  void progressed();
  void keep_time();
  void take_data(const Packet& packet, const std::byte* payload, std::size_t bytes);
  [[nodiscard]] bool scatter(const std::vector<ibv_sge>& segments, std::size_t at,
                             const std::byte* from, std::size_t bytes);
  void send_datagram(SendRequest& request);

  // Responder.
  [[nodiscard]] bool is_from_peer(const Packet& packet) const;
  void take_duplicate(const Packet& packet);
  [[nodiscard]] bool execute(const Packet& packet, const std::byte* payload, std::size_t bytes);
  [[nodiscard]] bool execute_send(const Packet& packet, const std::byte* payload,
                                  std::size_t bytes);
  [[nodiscard]] bool execute_write(const Packet& packet, const std::byte* payload,
                                   std::size_t bytes);
  [[nodiscard]] bool execute_read(const Packet& packet);
  [[nodiscard]] bool execute_atomic(const Packet& packet);
  [[nodiscard]] bool take_receive();
  [[nodiscard]] bool refuse(const Packet& packet, Verdict verdict);
  void answer(Kind kind, Verdict verdict, std::uint32_t number, std::uint32_t length = 0,
              std::uint64_t operand = 0);
  void send_data(const Packet& request);

 public:
  std::uint32_t index = 0;
  bool signals_all = false;
  ibv_qp_cap sizes{};

 private:
  ibv_qp_attr set_{};  // as modify() has been given it
  Place peer_;
  std::size_t path_bytes_ = 0;

  // Requester.
  std::deque<SendRequest> sends_;  // not complete
  std::size_t cursor_ = 0;         // of them the next to be sent
  std::uint64_t posted_ = 0;       // requests
  std::uint64_t reaped_ = 0;       // their places are free
  std::uint32_t next_ = 0;         // number of the next new packet
  std::uint32_t oldest_ = 0;       // that is not acknowledged
  std::uint32_t reads_ = 0;        // under way
  std::uint32_t retries_left_ = 0;
  std::uint32_t rnr_left_ = 0;
  std::uint64_t deadline_ns_ = 0;    // 0: nothing is under way, or a pong is awaited
  std::uint64_t rnr_until_ns_ = 0;   // nothing is sent before
  std::uint64_t hold_until_ns_ = 0;  // the same, by fault `delay`
  std::uint32_t pings_ = 0;
  bool awaits_pong_ = false;
  bool asked_again_ = false;  // for an answer that has been lost

  // Responder.
  std::deque<ReceiveRequest> receives_;
  std::uint32_t receives_out_ = 0;  // posted, and not polled
  std::uint32_t expected_ = 0;      // number of the next packet
  bool refused_ = false;            // said so once; until that packet comes
  bool owes_ = false;               // an acknowledgement
  bool established_ = false;        // the program has been told
  std::optional<ReceiveRequest> current_;
  std::size_t taken_ = 0;       // bytes of the message
  std::uint64_t write_to_ = 0;  // the next bytes of the message
  std::uint32_t write_key_ = 0;
  std::uint32_t write_left_ = 0;
  struct Atomic {
    std::uint32_t number;
    std::uint64_t value;
  };
  std::deque<Atomic> atomics_;  // answers, for requests that come again
};

}  // namespace soft_verbs
