#pragma once
/// @file
/// Polls that find nothing, counted by callgrind (idle_poll.sh).

#include "am/bundle.hpp"
#include "am/context.hpp"
#include "am/endpoint.hpp"
#include "runtime/job.hpp"

constexpr int kIdlePolls = 6400;  // a multiple of what polls do now and then

inline void poll_idly(viaduct::am::Bundle& bundle) {
  for (int i = 0; i < kIdlePolls; ++i) (void)bundle.poll();
}
