#pragma once
/// @file
/// The first argument of a handler: it names the sender, and the handler replies through it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "viaduct/am/detail/map.hpp"
#include "viaduct/am/handler.hpp"
#include "viaduct/am/types.hpp"
#include "viaduct/runtime/parts.hpp"

namespace viaduct::am {

namespace detail {
struct CallAccess;
struct Dispatcher;
struct ShortWay;  // of the C interface
}  // namespace detail

#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wgcc-compat"  // the attribute diagnose_if
#else
#pragma GCC diagnostic ignored "-Wattributes"
#endif

/// Stands for one arrived message while its handler runs. A request handler may reply once and may
/// not request, poll or wait; a reply handler may do none of these. A violation stops the program
/// with a sentence that names the handler.
class Token {
 public:
  /// Made by the runtime, for each message that a handler runs for.  Never waits.
  Token(detail::Map& map, std::uint64_t client) noexcept : map_(map), client_(client) {}
  Token(const Token&) = delete;
  Token& operator=(const Token&) = delete;

  /// Short reply.
  ///
  /// Blocks      only while the ring to the requester is full, which credits prevent while all
  ///             messages are of one line; reply handlers may run meanwhile, request handlers
  ///             never do.
  /// Order       replies to one requester are delivered in call order.
  /// Cost        one cache line; no credit, allocation, lock or system call.
  ///
  /// A requester that is gone gets no reply; the handler need not care.
  template <auto Handler, class... A>
  __attribute__((always_inline,
                 diagnose_if(!ShortHandler<Handler>, VIADUCT_SHORT_TEXT, "error"))) void
  reply(A... args) noexcept {
    static_assert(detail::kSaidElsewhere || ShortHandler<Handler>, VIADUCT_SHORT_TEXT);
    if constexpr (ShortHandler<Handler>) reply_short<Handler>(args...);
  }

  /// Medium reply: up to max_medium() bytes, copied before the call returns. As reply(), but may
  /// have to wait until the requester has polled when the medium ring and the endpoint's overflow
  /// block are both taken.
  ///
  /// @return  ok            sent, or given to the requester's end
  ///          peer_lost     the requester is gone
  ///          bad_argument  refused: too long, or data null. The handler may still reply. When it
  ///                        returns without having done so, the request goes back to its sender's
  ///                        handler 0 with bad_arguments: a requester never waits for a reply that
  ///                        was refused.
  template <auto Handler, class Data, class... A>
  __attribute__((diagnose_if(!MediumHandler<Handler>, VIADUCT_MEDIUM_TEXT, "error"))) Status
  reply_medium(Data&& data, A... args) noexcept {
    static_assert(detail::kSaidElsewhere || MediumHandler<Handler>, VIADUCT_MEDIUM_TEXT);
    if constexpr (MediumHandler<Handler>)
      return reply_data<Handler>(Operation::medium, detail::span_of(data), 0, args...);
    else
      return Status::bad_argument;
  }

  /// Bulk reply: the data are in the requester's segment at @p offset before its handler runs. Data
  /// that do not fit the segment come back to this endpoint's handler 0 (bad_offset, bad_length),
  /// and the request goes back to its sender's handler 0 (bad_arguments).  Blocks and Order: as
  /// reply_medium().
  ///
  /// @return as reply_medium().
  template <auto Handler, class Data, class... A>
  __attribute__((diagnose_if(!BulkHandler<Handler>, VIADUCT_MEDIUM_TEXT, "error"))) Status
  reply_bulk(Data&& data, std::size_t offset, A... args) noexcept {
    static_assert(detail::kSaidElsewhere || BulkHandler<Handler>, VIADUCT_MEDIUM_TEXT);
    if constexpr (BulkHandler<Handler>)
      return reply_data<Handler>(Operation::bulk, detail::span_of(data), offset, args...);
    else
      return Status::bad_argument;
  }

  /// @return the sender's place in this endpoint's translation table; kNoIndex for one that is not
  /// mapped.
  [[nodiscard]] Index source() const noexcept { return map_.index; }
  /// @return the rank that sent the message.
  [[nodiscard]] Rank source_rank() const noexcept { return map_.name.rank; }
  /// @return the endpoint that sent the message.
  [[nodiscard]] EndpointName source_name() const noexcept { return map_.name; }
  /// @return the tag that the sender has presented. With a request: this endpoint's tag, or, where
  /// this endpoint accepts every sender, the tag that the sender named. With a reply: this
  /// endpoint's tag.
  [[nodiscard]] Tag tag() const noexcept;
  /// @return whether the handler may call reply*() now.
  [[nodiscard]] bool can_reply() const noexcept { return may_reply() || (client_ & kRefused) != 0; }
  /// For handlers that dispatch by a table of their own: the message goes back to its sender's
  /// handler 0 with @p why, as if this endpoint had refused it, and the handler returns. A call
  /// fails with @p why, and what its handler returns is not sent.
  ///
  /// Blocks      as reply().
  /// Call from   the handler, outside a get's, instead of a reply.
  /// Errors      a message that was answered or has gone back, `none` as @p why, or arguments that
  ///             no message has: stops the program with a sentence.
  ///
  /// @param args    the arguments, packed as they came, of @p arg_bytes bytes: at most 16 words
  /// @param bytes   medium, bulk: of the data
  /// @param offset  bulk: in this endpoint's segment
  void send_back(Undeliverable why, std::span<const std::uint64_t> args, std::size_t arg_bytes,
                 std::size_t bytes = 0, std::size_t offset = 0) noexcept;

  /// The object that the endpoint was given (Endpoint::set_state).  Never waits. Errors: another
  /// type, or no object, stops the program with a sentence.
  template <class T>
  [[nodiscard]] T& state() const noexcept;
  /// @return the endpoint that the message came to.
  [[nodiscard]] Endpoint& endpoint() const noexcept { return *map_.endpoint; }
  /// @return whether the message is a request or a reply.
  [[nodiscard]] Direction direction() const noexcept {
    return detail::wire_format::kind(client_) == detail::Kind::request ? Direction::request
                                                                       : Direction::reply;
  }
  /// @return whether this handler has replied.
  [[nodiscard]] bool replied() const noexcept {
    return (client_ & (kReplied | kRefused)) == kReplied;
  }

 private:
  friend struct detail::Dispatcher;
  friend struct detail::CallAccess;
  friend struct detail::ShortWay;

  static constexpr std::uint64_t kReplied = std::uint64_t{1}
                                            << 63;  // above the 48 bits of the client word
  // With kReplied: the reply was refused, and the request goes back unless another one is made.
  static constexpr std::uint64_t kRefused = std::uint64_t{1} << 62;
  // With kReplied: the request has gone back.
  static constexpr std::uint64_t kSentBack = std::uint64_t{1} << 61;

  template <auto Handler>
  [[nodiscard]] static std::uint64_t reply_client(Operation operation) noexcept {
    return detail::wire_format::make(detail::Kind::reply, operation,
                                     detail::handler_number<Handler>());
  }
  template <auto Handler, class... A>
  void reply_short(A... args) noexcept {
    if constexpr (detail::SignatureOf<Handler>::Args::kWords > via::kWordsPerSlot)
      reply_short_lines<Handler>(args...);
    else if (!reply_line<Handler>(args...)) [[unlikely]]
      reply_short_slow<Handler>(args...);
  }
  /// The short way. False: nothing has happened.
  template <auto Handler, class... A>
  [[nodiscard, gnu::always_inline]] bool reply_line(A... args) noexcept {
    using Args = typename detail::SignatureOf<Handler>::Args;
    VIADUCT_PART(bookkeeping);
    if (may_reply()) [[likely]] {
      via::channel::Channel& channel = *map_.channel;
      if (channel.known_room() != 0) [[likely]] {
        VIADUCT_PART(build);
        via::Slot& slot = channel.known_slot();
        slot.put(detail::PackAs<Args>::pack(args...));
        map_.take_no_credit();
        client_ |= kReplied;
        channel.publish(slot, via::header::make(via::MessageKind::inline_data, Args::kBytes,
                                                reply_client<Handler>(Operation::short_message)));
        return true;
      }
    }
    return false;
  }
  // Packs for itself: the words of the fast path stay in registers.
  template <auto Handler, class... A>
  [[gnu::cold, gnu::noinline]] void reply_short_slow(A... args) noexcept {
    using S = detail::SignatureOf<Handler>;
    if (map_.channel->refresh_room(1) && reply_line<Handler>(args...)) return;
    const auto words = detail::PackAs<typename S::Args>::pack(args...);
    const std::uint64_t client = reply_client<Handler>(Operation::short_message);
    (void)reply_slow(client, words.data(), static_cast<std::uint32_t>(words.size()),
                     S::Args::kBytes, nullptr, 0, 0);
  }

  template <auto Handler, class... A>
  [[gnu::noinline]] void reply_short_lines(A... args) noexcept {
    using S = detail::SignatureOf<Handler>;
    const auto words = detail::PackAs<typename S::Args>::pack(args...);
    const std::uint64_t client = reply_client<Handler>(Operation::short_message);
    const auto count = static_cast<std::uint32_t>(words.size());
    if (!reply_at_once(client, words.data(), count, S::Args::kBytes, {})) [[unlikely]]
      (void)reply_slow(client, words.data(), count, S::Args::kBytes, nullptr, 0, 0);
  }

  template <auto Handler, class T, class... A>
  Status reply_data(Operation operation, std::span<T> data, std::size_t offset,
                    A... args) noexcept {
    using S = detail::SignatureOf<Handler>;
    static_assert(std::is_same_v<std::remove_const_t<T>, std::remove_const_t<typename S::Element>>,
                  "the data must be of the handler's element type");
    const auto words = detail::PackAs<typename S::Args>::pack(args...);
    const auto bytes = std::as_bytes(data);
    const std::uint64_t client = detail::wire_format::make(detail::Kind::reply, operation,
                                                           detail::handler_number<Handler>());
    if (operation == Operation::medium &&
        reply_at_once(client, words.data(), static_cast<std::uint32_t>(words.size()),
                      S::Args::kBytes, bytes))
      return Status::ok;
    return reply_slow(client, words.data(), static_cast<std::uint32_t>(words.size()),
                      S::Args::kBytes, bytes.data(), bytes.size(), offset);
  }

  [[nodiscard]] bool may_reply() const noexcept {
    return (client_ & (detail::wire_format::kind_mask | kReplied)) == 0;
  }
  /// Whether the request's credit comes back by other means than the handler's return.
  [[nodiscard]] bool is_answered() const noexcept { return (client_ & kReplied) != 0; }
  void refuse_reply() noexcept;
  [[nodiscard]] bool take_back_refusal() noexcept;
  [[nodiscard]] bool leaves_answer_out() noexcept;
  void check_return(Undeliverable why, std::span<const std::uint64_t> args,
                    std::size_t arg_bytes) noexcept;
  [[nodiscard]] bool is_too_large_for_v1(std::uint64_t client) const noexcept;
  void place_medium(std::uint64_t& client, std::uint64_t& place, const std::byte* data,
                    std::size_t bytes) noexcept;
  [[nodiscard, gnu::noinline]] bool reply_at_once(std::uint64_t client, const std::uint64_t* words,
                                                  std::uint32_t count, std::uint32_t arg_bytes,
                                                  std::span<const std::byte> data) noexcept;
  [[gnu::noinline]] Status reply_slow(std::uint64_t client, const std::uint64_t* words,
                                      std::uint32_t count, std::size_t arg_bytes,
                                      const std::byte* data, std::size_t bytes,
                                      std::size_t offset) noexcept;

  detail::Map& map_;
  std::uint64_t client_;
};

#pragma GCC diagnostic pop

}  // namespace viaduct::am
