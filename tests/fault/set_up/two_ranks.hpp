#pragma once
/// @file
/// A job of two ranks in two processes, for set-ups that need a peer.

#include <functional>

#include "viaduct/job.hpp"

namespace set_up {

/// Makes this process rank 0 of a new job, whose rank 1 runs @p peer in a process of its own. A
/// third process serves both, as viaduct-run does. The two processes end when this one does;
/// try_all() waits for them. Called once in a process, before its Job is made.
void fork_peer(const std::function<void(viaduct::Job&)>& peer);

}  // namespace set_up
