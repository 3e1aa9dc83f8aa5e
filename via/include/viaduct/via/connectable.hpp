#pragma once
/// @file
/// One side of a connection, as the connections of a NIC know it.

namespace viaduct::via {

/// The base class of the ends in via/connections.hpp. Each NIC knows its own derived class.
class Connectable {
 protected:
  Connectable() = default;
  ~Connectable() = default;
};

}  // namespace viaduct::via
