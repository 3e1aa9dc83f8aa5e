#pragma once
/// @file
/// Polls that find nothing, counted by callgrind (idle_poll.sh).

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"

constexpr int kIdlePolls = 6400;  // a multiple of what polls do now and then

inline void poll_idly(viaduct::am::Bundle& bundle) {
  for (int i = 0; i < kIdlePolls; ++i) (void)bundle.poll();
}
