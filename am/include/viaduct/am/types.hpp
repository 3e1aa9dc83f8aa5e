#pragma once
/// @file
/// Names that the Active Message layer's users meet. Source: Mainwaring and Culler, Active Message
/// Application Programming Interface, 1995; Begel et al. 2001, section 4.1.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "viaduct/runtime/status.hpp"
#include "viaduct/runtime/types.hpp"

namespace viaduct::am {

inline constexpr std::uint32_t kMaxArgs = 16;       ///< arguments of one message
inline constexpr std::uint32_t kMaxArgBytes = 128;  ///< and their packed size
/// Most bytes of a medium message's data that travel in its own cache lines between ranks that
/// share memory: 8 less for each word of arguments.
inline constexpr std::size_t kMaxLineData = 160;
inline constexpr std::uint32_t kOwnHandlers = 256;  ///< ids 0 to 255: the endpoint's own table
inline constexpr std::uint32_t kMinTranslations = 1024;

/// Index into an endpoint's translation table. map_all() makes index r mean rank r.
enum class Index : std::uint32_t {};
/// A sender that is not in the translation table.
inline constexpr std::uint32_t kNoIndex = 0xffffffff;
/// @return the index as a number.
[[nodiscard]] constexpr std::uint32_t value(Index i) noexcept {
  return static_cast<std::uint32_t>(i);
}

/// An endpoint's place in the endpoint's own handler table, 0 to 255. 0 is the
/// undeliverable-message handler.
enum class HandlerId : std::uint16_t {};

/// Protection tag of an endpoint: an endpoint accepts messages of senders whose translation table
/// names its tag.
using Tag = std::uint64_t;
inline constexpr Tag kTagNone = 0;       ///< accepts no sender
inline constexpr Tag kTagAll = ~Tag{0};  ///< accepts every sender

/// Global name of an endpoint; plain data, may be sent in messages and through the bootstrap.
struct EndpointName {
  Rank rank{};
  std::uint16_t number = 0;  ///< of the rank's endpoints: see Endpoint()
};

/// The kinds of messages.
enum class Operation : std::uint8_t { short_message, medium, bulk, get };
enum class Direction : std::uint8_t { request, reply };

/// Why a message could not be delivered (status of the undeliverable-message handler). AM-2's names
/// with their numbers left to the C interface.
enum class Undeliverable : std::uint8_t {
  none,
  /// EBADARGS: the handler takes other arguments, or another kind of message (Takes). Also: the
  /// request's handler made a reply that was refused, and no other one; then the arguments do not
  /// come back.
  bad_arguments,
  bad_entry,     ///< EBADENTRY: the index is not mapped
  bad_tag,       ///< EBADTAG: the endpoint's tag is another one
  bad_handler,   ///< EBADHANDLER: no such handler there
  bad_offset,    ///< EBADSEGOFF: the offset lies outside the segment, or there is none
  bad_length,    ///< EBADLENGTH: the data reach beyond the segment's end, or a call's do not fit
  bad_endpoint,  ///< EBADENDPOINT: no such endpoint, or it has been freed
  /// ECONGESTION: a connection could not be made (most often no memory; the rank on whose side that
  /// was has printed the reason); or the requests of a rank that waits for replies
  /// alone were put off by one that does so, too (Endpoint::set_wait_run).
  congestion,
  unreachable,     ///< EUNREACHABLE: the peer's process is gone
  reply_rejected,  ///< EREPLYREJECTED: the requester could not take the reply
  /// EUNREACHABLE: the kernel refuses access to the private memory that the peer gave as its
  /// segment
  no_access,
};
/// @return the name, as the enumerator's.
[[nodiscard]] const char* to_string(Undeliverable status) noexcept;
/// @return the name, as the enumerator's.
[[nodiscard]] const char* to_string(Operation operation) noexcept;

/// The messages that a handler takes. The receiver sends all others back with bad_arguments.
struct Takes {
  Operation operation = Operation::short_message;
  std::uint32_t arg_bytes = 0;  ///< packed; a word of request_raw() has 8

  [[nodiscard]] friend constexpr bool operator==(const Takes&, const Takes&) noexcept = default;
};

/// A returned message.
struct Returned {
  Undeliverable status = Undeliverable::none;
  Operation operation = Operation::short_message;
  Direction direction = Direction::request;
  Index peer{};  ///< where it was to go
  Rank rank{};   ///< and whose endpoint that is (the own rank when the index is not mapped)
  std::uint16_t handler = 0;  ///< handler number; handler_name() tells its name
  /// Packed as they were sent; none where the reply of the handler was refused.
  const std::byte* args = nullptr;
  std::uint32_t arg_bytes = 0;
  /// Medium, bulk, get: of the data, as far as the message that came back tells it, else 0.
  std::size_t data_bytes = 0;
  std::size_t offset = 0;  ///< bulk, get: in the peer's segment, as far as is known
};

/// The undeliverable-message handler, id 0. This handler may not communicate. The default logs the
/// message and aborts.
using UndeliverableHandler = std::function<void(const Returned&)>;

}  // namespace viaduct::am
