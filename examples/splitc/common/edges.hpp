#pragma once
// Graphs as lists of edges, read from a file or generated, for the programs that work on graphs.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace examples {

struct Edge {
  std::uint32_t from;
  std::uint32_t to;
  double weight;
};

/// The most vertices: a number in a file decides how much memory is taken.
inline constexpr std::uint32_t kMaxVertices = 1U << 27;

/// Lines "FROM TO" or, with @p weighted, "FROM TO WEIGHT". Vertices are numbered from 0. Throws
/// BadInput that names file and line.
[[nodiscard]] std::vector<Edge> read_edges(const std::string& path, bool weighted);

}  // namespace examples
