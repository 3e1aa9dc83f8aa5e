#pragma once
/// @file
/// What the connections of a NIC tell of an attempt's outcome.

namespace viaduct::via {

/// One side of a connection, as via/connections.hpp knows it: the NIC knows which of its classes
/// stands behind it.
class Connectable {
 protected:
  Connectable() = default;
  ~Connectable() = default;
};

}  // namespace viaduct::via
