#include "examples/splitc/common/edges.hpp"

#include <cmath>

#include "examples/splitc/common/text_reader.hpp"

namespace examples {

std::vector<Edge> read_edges(const std::string& path, bool weighted) {
  TextReader reader(path);
  std::vector<Edge> edges;
  const auto vertex = [&reader](const char* what) {
    const auto number = reader.number<std::uint32_t>(what);
    if (number >= kMaxVertices)
      reader.fail(fmt::format("{} {} is too great: at most {}", what, number, kMaxVertices - 1));
    return number;
  };
  while (reader.next_line()) {
    Edge edge{};
    edge.from = vertex("the first vertex");
    edge.to = vertex("the second vertex");
    edge.weight = weighted ? reader.number<double>("the weight") : 1;
    if (!std::isfinite(edge.weight)) reader.fail("the weight must be finite");
    reader.end_line();
    edges.push_back(edge);
  }
  if (edges.empty()) throw BadInput(fmt::format("{} has no edges in it", path));
  return edges;
}

}  // namespace examples
