#pragma once
/// @file
/// The hot path's answers. Set-up throws viaduct::Error instead (error.hpp).

#include <cstdint>

namespace viaduct {

enum class [[nodiscard]] Status : std::uint8_t{
    ok,         ///< accepted or done
    retry,      ///< nothing happened: no credit, descriptor or room now; the same call may succeed
                ///< later
    peer_lost,  ///< nothing was sent: the peer's process is gone, or it left the job
    timeout,    ///< the time limit of the call ran out
    bad_argument,  ///< the call is wrong in a way its caller can see (null, out of range, too long)
    bad_state,     ///< the object is not in a state that allows the call
};

/// "ok", "retry", ... for messages.
[[nodiscard]] const char* to_string(Status status) noexcept;

}  // namespace viaduct
