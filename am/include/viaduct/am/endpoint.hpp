#pragma once
/// @file
/// Endpoints: a process' port into a virtual network. Source: Begel et al. 2001, sections 4.1 and
/// 5.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

// First: compilers list the path of includes to a header with each error in it.
#include "viaduct/am/token.hpp"

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/detail/call.hpp"
#include "viaduct/am/detail/endpoint_core.hpp"
#include "viaduct/am/future.hpp"
#include "viaduct/am/handler.hpp"
#include "viaduct/am/types.hpp"

namespace viaduct::am {

#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wgcc-compat"  // the attribute diagnose_if
#else
#pragma GCC diagnostic ignored "-Wattributes"
#endif

// The calls of an Endpoint that send.
class EndpointRequests {
 public:
  EndpointRequests(const EndpointRequests&) = delete;
  EndpointRequests& operator=(const EndpointRequests&) = delete;

  /// Short request: @p Handler runs at @p to during one of its polls.
  ///
  /// Blocks      until there is credit, polling (requests too unless set_wait_run says otherwise).
  /// Call from   the bundle's thread, outside handlers; in a handler use Token::reply.
  /// Progress    polls once in VIADUCT_AM_POLL_EVERY slots that are sent to @p to, and of a stream
  ///             to @p to alone once in four times as many, so that a rank which only sends serves
  ///             its peers.
  /// Order       requests of one endpoint to one other are handled in call order, whatever their
  ///             sizes.
  /// Cost        one cache line, one credit; no allocation, lock, fence or system call.
  ///
  /// @return ok; peer_lost (nothing was sent: the peer's process is gone); bad_argument (index out
  ///         of range).
  ///
  /// ok means accepted, not delivered. A peer that is killed, leaves or ends its endpoint is
  /// noticed within 64 polls (or when the caller waits). Messages that were accepted until then and
  /// not handled come back to handler 0 (unreachable, bad_endpoint). Each message is handled or
  /// comes back; requests without a reply that the peer had handled just before its end may come
  /// back, too.
  template <auto Handler, class... A>
  __attribute__((diagnose_if(!ShortHandler<Handler>, VIADUCT_SHORT_TEXT, "error"))) Status request(
      Index to, A... args) noexcept {
    static_assert(detail::kSaidElsewhere || ShortHandler<Handler>, VIADUCT_SHORT_TEXT);
    return send_short<Handler, true>(to, args...);
  }
  /// The same without waiting: retry when there is no credit or the MAP is still being made.
  template <auto Handler, class... A>
  __attribute__((diagnose_if(!ShortHandler<Handler>, VIADUCT_SHORT_TEXT, "error"))) Status
  try_request(Index to, A... args) noexcept {
    static_assert(detail::kSaidElsewhere || ShortHandler<Handler>, VIADUCT_SHORT_TEXT);
    return send_short<Handler, false>(to, args...);
  }

  /// Medium request: up to max_medium() bytes, copied before the call returns; the handler gets
  /// them in its receive buffer, 16-byte aligned, valid until it returns. bad_argument: too long.
  template <auto Handler, class Data, class... A>
  __attribute__((diagnose_if(!MediumHandler<Handler>, VIADUCT_MEDIUM_TEXT, "error"))) Status
  request_medium(Index to, Data&& data, A... args) noexcept {
    static_assert(detail::kSaidElsewhere || MediumHandler<Handler>, VIADUCT_MEDIUM_TEXT);
    return send_data<Handler, Operation::medium>(to, detail::span_of(data), 0, true, args...);
  }
  /// request_medium() without waiting. @return as try_request().
  template <auto Handler, class Data, class... A>
  __attribute__((diagnose_if(!MediumHandler<Handler>, VIADUCT_MEDIUM_TEXT, "error"))) Status
  try_request_medium(Index to, Data&& data, A... args) noexcept {
    static_assert(detail::kSaidElsewhere || MediumHandler<Handler>, VIADUCT_MEDIUM_TEXT);
    return send_data<Handler, Operation::medium>(to, detail::span_of(data), 0, false, args...);
  }

  /// Bulk request: any size, into the peer's segment at @p offset; the handler runs when all data
  /// are in place. The source may be changed when the call returns.
  ///
  /// Blocks      until there is credit, polling; on shm for the copy. The receiver makes the copy
  ///             if it polls just then (4 KiB to 4 MiB of this rank's segment), and else this
  ///             process does.
  /// Order       as request().
  /// Cost        one copy; between hosts one RDMA write.
  template <auto Handler, class Data, class... A>
  __attribute__((diagnose_if(!BulkHandler<Handler>, VIADUCT_MEDIUM_TEXT, "error"))) Status
  request_bulk(Index to, Data&& data, std::size_t offset, A... args) noexcept {
    static_assert(detail::kSaidElsewhere || BulkHandler<Handler>, VIADUCT_MEDIUM_TEXT);
    return send_data<Handler, Operation::bulk>(to, detail::span_of(data), offset, true, args...);
  }
  /// request_bulk() without waiting for credit. @return as try_request().
  template <auto Handler, class Data, class... A>
  __attribute__((diagnose_if(!BulkHandler<Handler>, VIADUCT_MEDIUM_TEXT, "error"))) Status
  try_request_bulk(Index to, Data&& data, std::size_t offset, A... args) noexcept {
    static_assert(detail::kSaidElsewhere || BulkHandler<Handler>, VIADUCT_MEDIUM_TEXT);
    return send_data<Handler, Operation::bulk>(to, detail::span_of(data), offset, false, args...);
  }

  /// Get: fills @p data from the peer's segment at @p offset, then runs @p Handler here, as a reply
  /// handler, with the data. @p data stays the runtime's until the handler has run.
  ///
  /// Blocks      as request().  Progress: as request(). The peer takes no part on shm.
  /// Order       none with other messages.
  /// Cost        one copy; between hosts one RDMA read.
  ///
  /// @return as request().
  template <auto Handler, class Data, class... A>
  __attribute__((diagnose_if(!BulkHandler<Handler>, VIADUCT_MEDIUM_TEXT, "error"))) Status get(
      Index from, Data&& data, std::size_t offset, A... args) noexcept {
    static_assert(detail::kSaidElsewhere || BulkHandler<Handler>, VIADUCT_MEDIUM_TEXT);
    return get_data<Handler>(from, detail::span_of(data), offset, true, args...);
  }
  /// get() without waiting for the connection. @return as try_request().
  template <auto Handler, class Data, class... A>
  __attribute__((diagnose_if(!BulkHandler<Handler>, VIADUCT_MEDIUM_TEXT, "error"))) Status try_get(
      Index from, Data&& data, std::size_t offset, A... args) noexcept {
    static_assert(detail::kSaidElsewhere || BulkHandler<Handler>, VIADUCT_MEDIUM_TEXT);
    return get_data<Handler>(from, detail::span_of(data), offset, false, args...);
  }

  /// Calls @p Handler at @p to: the value that it returns there comes into the future, and the
  /// runtime replies with it.
  ///
  ///     std::uint64_t look_up(Token&, int key);
  ///     auto count = endpoint.call<look_up>(to, key).wait();
  ///
  /// A handler that takes a std::span<const T> after its token is given the first argument's data,
  /// as by request_medium(). For a handler that returns a container or span the next argument is
  /// memory of the caller, which is the runtime's until the answer has come: the value is the
  /// filled part of that memory.
  ///
  /// Blocks      as request(): for credit, not for the answer.
  /// Call from   as request(). Progress and order: as request().
  /// Cost        as a request and a reply, and at most 12 instructions; no allocation.
  ///
  /// @return the future. An error that request() would answer, and a message that would come back
  /// to handler 0, are errors of its result.
  template <auto Handler, class... A>
  __attribute__((diagnose_if(!CallHandler<Handler>, VIADUCT_CALL_TEXT, "error"))) auto call(
      Index to, A&&... args) noexcept;

  /// request() by number, for a handler of the peer's own table (1 to 255). @p words: up to 16
  /// words of arguments.
  ///
  /// @return as request(); bad_argument for more words.
  Status request_raw(Index to, HandlerId handler, std::span<const std::uint64_t> words) noexcept;
  /// request_raw() without waiting.
  ///
  /// @return as try_request().
  Status try_request_raw(Index to, HandlerId handler,
                         std::span<const std::uint64_t> words) noexcept;
  /// request_medium() by number, for a handler of the peer's own table.
  ///
  /// @return as request_medium() and request_raw().
  Status request_medium_raw(Index to, HandlerId handler, std::span<const std::byte> data,
                            std::span<const std::uint64_t> words) noexcept;

 private:
  friend class Endpoint;
  friend struct detail::EndpointCore;

  EndpointRequests(Bundle& bundle, Tag tag, std::int32_t number);
  ~EndpointRequests() = default;

  // Requests: detail/endpoint_send.hpp. Each has a second form without a condition, so that a
  // message that the compiler has refused gives one error and not two.
  template <auto Handler, bool Wait, class... A>
  Status send_short(Index to, A... args) noexcept requires ShortHandler<Handler>;
  template <auto, bool, class... A>
  Status send_short(Index, A...) noexcept;
  template <auto Handler, bool Wait, class... A>
  [[gnu::noinline]] Status send_short_slow(Index to, A... args) noexcept;
  template <auto Handler, Operation Op, class T, class... A>
  Status send_data(Index to, std::span<T> data, std::size_t offset, bool wait, A... args) noexcept
      requires(Op == Operation::medium ? MediumHandler<Handler> : BulkHandler<Handler>);
  template <auto, Operation, class T, class... A>
  Status send_data(Index, std::span<T>, std::size_t, bool, A...) noexcept;
  template <auto Handler, class T, class... A>
  Status get_data(Index from, std::span<T> data, std::size_t offset, bool wait,
                  A... args) noexcept requires BulkHandler<Handler>;
  template <auto, class T, class... A>
  Status get_data(Index, std::span<T>, std::size_t, bool, A...) noexcept;

  // Calls: detail/endpoint_call.hpp
  template <auto Handler, class R, class... A>
  void call_short(Future<R>& future, Index to, A&... args) noexcept;
  template <auto Handler, class R, class... A>
  [[nodiscard]] bool try_call(Future<R>& future, Index to, A&... args) noexcept;
  template <auto Handler, class R, class... A>
  [[gnu::noinline]] void call_when_open(Future<R>& future, Index to, A&... args) noexcept;
  template <auto Handler, class R, class Data, class... A>
  void call_medium(Future<R>& future, Index to, Data& data, A&... args) noexcept;
  template <auto Handler, class R, class... A>
  [[gnu::noinline]] void call_slow(Future<R>& future, Index to, Operation operation,
                                   std::span<const std::byte> data, A&... args) noexcept;
  template <auto Handler, class T, class Room, class... A>
  void call_into(Future<std::span<T>>& future, Index to, Operation operation,
                 std::span<const std::byte> data, Room& room, A&... args) noexcept;
  template <auto Handler, class... A>
  void call_words(detail::PendingCall& call, std::uint32_t call_tag, Index to, Operation operation,
                  std::span<const std::byte> data, A&... args) noexcept;

  detail::EndpointCore core_;
};

/// Belongs to the thread of its bundle; all threads may use it when that is parallel. Made and
/// destroyed outside handlers, destroyed before its bundle and when no other thread uses it.
///
/// All sends: @p to is an index of the translation table. A message that cannot be delivered (index
/// not mapped, tag, handler, offset or length wrong at the other side, endpoint gone) comes back to
/// this endpoint's handler 0. A mistake that the caller can see (index out of range, data null, too
/// long) is answered bad_argument, and a warning names it. A MAP to the peer is made at the first
/// message. request* waits for credit and connection, polling; try_request* answers retry instead.
class Endpoint : public EndpointRequests {
 public:
  /// Accepts senders that name @p tag. The rank's first endpoint has number 0, the next ones 1, 2
  /// and so on; the numbers of ended ones come again behind 65535. Throws Error: no memory, or more
  /// than 65536 endpoints.
  explicit Endpoint(Bundle& bundle, Tag tag = kTagAll) : Endpoint(bundle, tag, kAnyNumber) {}
  /// The same with a number that peers know beforehand (EndpointName::number); kAnyNumber: as
  /// above. Throws Error: in use, or no number from 0 to 65535.
  Endpoint(Bundle& bundle, Tag tag, std::int32_t number) : EndpointRequests(bundle, tag, number) {}
  static constexpr std::int32_t kAnyNumber = -1;
  ~Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Translation table.

  /// Index r becomes endpoint 0 of rank r, for all ranks of the job, under @p tag (theirs).  Never
  /// waits: no communication until the first message.  Cost: linear in the number of ranks where
  /// the table is empty before.  Errors: throws Error (memory).
  void map_all(Tag tag = kTagAll);
  /// Maps @p index; no communication until the first message. Several indices may name one
  /// endpoint, all under the same tag: they share its credits and its order, and messages from it
  /// name the lowest of them (Token::source, Returned::peer). Handlers may call it.
  ///
  /// @return ok; bad_argument (index out of range, or no such rank); bad_state (in use, or mapped
  ///         under another tag).
  Status map(Index index, EndpointName name, Tag tag);
  /// Waits until all requests to @p index have been answered or returned, then forgets it.
  /// bad_argument when it is not mapped. The peer's requests to this endpoint go on as before;
  /// their source is kNoIndex then.
  Status unmap(Index index) noexcept;
  /// @return the size of the translation table.
  [[nodiscard]] std::uint32_t translations() const noexcept;
  /// Grows the table.  Never waits. Errors: throws Error beyond 65536.
  void set_translations(std::uint32_t count);
  /// @return whether @p index is mapped; false beyond the table.
  [[nodiscard]] bool is_mapped(Index index) const noexcept;
  /// @return the endpoint that @p index names; EndpointName{} where it is not mapped.
  [[nodiscard]] EndpointName translation_name(Index index) const noexcept;
  /// @return the tag under which @p index is mapped; kTagNone where it is not.
  [[nodiscard]] Tag translation_tag(Index index) const noexcept;

  // This endpoint.

  /// @return the name by which other ranks map this endpoint.
  [[nodiscard]] EndpointName name() const noexcept { return core_.name(); }
  /// @return the tag that senders must present.
  [[nodiscard]] Tag tag() const noexcept { return core_.tag; }
  /// When the call returns, messages are no longer accepted from senders that mapped this endpoint
  /// under another tag: those under way, and later ones, come back to the sender with bad_tag.
  /// Order: nothing that the caller does afterwards is seen by such a sender's messages. Data of a
  /// bulk request that is under way may still arrive in the segment. Senders with RDMA (of other
  /// hosts) still reach the segment: a get is answered, and a bulk request leaves its data there.
  void set_tag(Tag tag) noexcept;
  /// Puts @p handler at @p id of this endpoint's own table. With @p takes, other messages to it
  /// come back to their senders with bad_arguments; without, it is given every message.
  ///
  /// @return ok; bad_argument for an id that is not 1 to 255.
  Status set_handler(HandlerId id, RawHandler handler,
                     std::optional<Takes> takes = std::nullopt) noexcept;
  /// Puts @p handler at id 0, which gets returned messages.  Cost: a lock where the bundle is
  /// parallel.
  void set_undeliverable_handler(UndeliverableHandler handler);

  /// Makes a segment of @p bytes that peers write to and read from directly; replaces the one
  /// before, which must have no transfers under way.  Throws Error (memory).
  std::span<std::byte> make_segment(std::size_t bytes);
  /// Uses the caller's memory instead; it stays the caller's and must outlive its use here. Without
  /// bytes: there is no segment any more. The segment before must have no transfers under way.
  /// Throws Error.
  void set_segment(std::span<std::byte> memory);
  /// @return the segment that peers write to and read from.  Precondition: no other thread changes
  /// it.
  [[nodiscard]] std::span<std::byte> segment() const noexcept { return core_.segment.memory(); }
  /// @return the most bytes that a medium message may have.
  [[nodiscard]] std::uint32_t max_medium() const noexcept { return core_.max_medium; }
  /// @return the requests that may be outstanding to one peer: VIADUCT_AM_CREDITS, and in a job
  /// with a transport (on several hosts) not more than half of the slots have room for.
  [[nodiscard]] std::uint32_t credits() const noexcept { return core_.flow.credits; }
  /// Whether calls that wait may run request handlers (default) or only replies. Ranks that wait
  /// for each other with replies only get requests back (congestion).  Cost: a lock where the
  /// bundle is parallel.
  void set_wait_run(Bundle::Run run) noexcept;

  /// Handlers reach @p object by Token::state<T>(). The object stays the caller's and must outlive
  /// its use here.  Never waits. Precondition: no handler runs in another thread.
  template <class T>
  void set_state(T& object) noexcept;
  /// The object that set_state() was given.  Never waits. Errors: another type, or no object, stops
  /// the program with a sentence.
  template <class T>
  [[nodiscard]] T& state() const noexcept;

  /// Bytes this endpoint holds for a mapped peer (rings and state), and for one never talked to.
  struct Footprint {
    std::size_t per_active_peer;
    std::size_t per_idle_peer;
  };
  /// @return the bytes that this endpoint holds for each peer.
  [[nodiscard]] Footprint footprint() const noexcept;
  /// @return the number of MAPs that are connected now.
  [[nodiscard]] std::uint32_t active_peers() const noexcept;

  /// @return the bundle that the endpoint belongs to.
  [[nodiscard]] Bundle& bundle() noexcept { return core_.bundle; }
};

#pragma GCC diagnostic pop

namespace detail {

inline EndpointCore& EndpointCore::of(Endpoint& endpoint) noexcept { return endpoint.core_; }

}  // namespace detail

}  // namespace viaduct::am

#include "viaduct/am/detail/endpoint_call.hpp"
#include "viaduct/am/detail/endpoint_send.hpp"
