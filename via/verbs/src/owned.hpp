#pragma once
/// @file
/// Objects of libibverbs with an owner, so that an exception leaves none behind.

#include <infiniband/verbs.h>

#include <memory>

#include "via/verbs/src/library.hpp"

namespace viaduct::via::verbs {

/// Destroys an object by the library's function @p Function.
template <auto Function>
struct Destroy {
  template <class Object>
  void operator()(Object* object) const noexcept {
    (library().*Function)(object);
  }
};

using OwnedContext = std::unique_ptr<ibv_context, Destroy<&Library::close_device>>;
using OwnedChannel = std::unique_ptr<ibv_comp_channel, Destroy<&Library::destroy_comp_channel>>;
using OwnedDomain = std::unique_ptr<ibv_pd, Destroy<&Library::dealloc_pd>>;
using OwnedRegion = std::unique_ptr<ibv_mr, Destroy<&Library::dereg_mr>>;
using OwnedQueue = std::unique_ptr<ibv_cq, Destroy<&Library::destroy_cq>>;
using OwnedPair = std::unique_ptr<ibv_qp, Destroy<&Library::destroy_qp>>;
using OwnedSharedReceives = std::unique_ptr<ibv_srq, Destroy<&Library::destroy_srq>>;

}  // namespace viaduct::via::verbs
