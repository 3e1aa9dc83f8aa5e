#pragma once
/// @file
/// The number of a typed handler in messages: the same in every rank, at whatever address the
/// handler was loaded.
///
/// A typed handler registers through an inline variable's dynamic initialiser: register_handler
/// appends to a fixed array. At job start the entries are sorted by (module build-id, offset from
/// the module's base); a handler's place in that order plus kFirstTypedId is its 16-bit handler
/// number. A digest goes round, and a mismatch names the first handler that differs and both
/// executables.

#include <cstddef>
#include <cstdint>
#include <span>

#include "viaduct/am/types.hpp"

namespace viaduct {
class Job;
}

namespace viaduct::am {

class Token;
struct Arrival;

/// Unpacks a message's arguments and calls the user's handler.
using Thunk = void (*)(Token& token, const Arrival& arrival);
/// A handler of the endpoint's own table (ids 1 to 255): reads its arguments itself.
using RawHandler = Thunk;

/// Handler numbers below this are an endpoint's own AM-2 table; typed handlers start here.
inline constexpr std::uint16_t kFirstTypedId = 256;
inline constexpr std::size_t kMaxTypedHandlers = 4096;
/// A handler that is registered after the agreement gets a number from here on, that no rank knows.
inline constexpr std::uint16_t kFirstLateId = 0x10000 - kMaxTypedHandlers;

struct HandlerEntry {
  const void* function = nullptr;  ///< the user's handler, for its address
  Thunk thunk = nullptr;
  const char* name = "";                           ///< for messages: "on_ping"
  std::uint32_t signature_bytes = 0;               ///< packed size of the arguments
  std::uint16_t* handler_number = nullptr;         ///< where the agreed id is written
  Operation operation = Operation::short_message;  ///< of its messages
  bool answers = false;  ///< a handler of calls: its requests that come back fail their calls
};

/// Appends @p entry. Runs before main, also in dlopen()ed modules loaded before the Job; never
/// allocates or throws. After the agreement the handler gets a number that no rank knows, so that
/// its messages come back (Undeliverable::bad_handler). More than kMaxTypedHandlers stop the
/// program with a sentence.
void register_handler(const HandlerEntry& entry) noexcept;

/// Collective. Sorts, compares with the other ranks, writes the handler numbers, and answers the
/// thunks in the order of their numbers (element 0 is handler number kFirstTypedId); they live as
/// long as the process. Idempotent: every Job of the process, and every rank that is a thread, gets
/// the same table. Throws Error naming the first handler that differs, its rank and both
/// executables; or that a handler's module was loaded after the first agreement.
[[nodiscard]] std::span<const Thunk> agree_on_handlers(Job& job);

/// @return the names of the typed handlers, in the agreed order (element 0 is number
/// kFirstTypedId); they
///         live as long as the process.
[[nodiscard]] std::span<const char* const> handler_names() noexcept;

/// @return the kind of message that the typed handler with @p handler_number takes; null for a
/// number that the agreement has not given out.
[[nodiscard]] const Takes* typed_takes(std::uint16_t handler_number) noexcept;

/// @return whether the handler with @p handler_number is one of calls (HandlerEntry::answers).
[[nodiscard]] bool is_call_handler(std::uint16_t handler_number) noexcept;

/// @return the name of the handler with @p handler_number, for messages after the word "handler". A
/// handler
///         without a name is its number: "12 (of the endpoint's own table)", "300 (not
///         registered)". A handler that this process has registered after the agreement is named,
///         with the reason why its messages come back.
[[nodiscard]] const char* handler_name(std::uint16_t handler_number) noexcept;

}  // namespace viaduct::am
