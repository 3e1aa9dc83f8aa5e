#pragma once
/// @file
/// The round trips that Delta is made of, where both ranks poll as programs do. A program whose
/// library is instrumented measures none.

#include <cstdint>

#include "benchmarks/common/pair.hpp"
#include "runtime/program/json.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/job.hpp"

namespace viaduct::bench {

/// Adds `rtt_half_ns` of a request and its reply, and `vi_rtt_half_ns` of a native VI's message of
/// 16 bytes, to @p json, which has `hand_over_ns`. Both ranks call it.
void add_am_round_trips(program::Json& json, Job& job, am::Context& context, Pair& pair,
                        std::uint64_t operations);
/// The same of a word that is read by messages.
void add_get_round_trips(program::Json& json, Job& job, Pair& pair, std::uint64_t operations);

}  // namespace viaduct::bench
