// Breadth-first search: how many edges lead from one vertex of a graph to every other one. The
// vertices of one distance are looked at by all processes at once, each its own, before those of
// the next.
//
// Shows   spread arrays as a table by vertex: the owner of vertex v is process v mod PROCS
//         compare_swap: of all processes that reach a vertex, one is first
//         fetch_add to take a place in another process' list, and a store into it
//         all_store_sync: all lists are complete
//         all_reduce_add: no process has any vertex left

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "examples/splitc/common/edges.hpp"
#include "examples/splitc/common/lists.hpp"
#include "examples/splitc/common/program.hpp"
#include "examples/splitc/common/random.hpp"
#include "examples/splitc/common/shared.hpp"

namespace {

using namespace splitc;
using examples::Edge;
using examples::my_number;
using examples::process_count;
using examples::Shared;
using Vertex = std::uint32_t;
using Neighbours = examples::Lists<Vertex>;

constexpr Vertex kNone = ~Vertex{0};

struct Options {
  std::string file;
  Vertex vertices = 20000;
  std::size_t edges = 0;  // 0: eight for each vertex
  std::uint64_t seed = 1;
  Vertex from = 0;
  Vertex to = kNone;
  bool directed = false;
};

// The source of the edges: a file that process 0 has read, or a formula.
class Graph {
 public:
  Graph(const Options& options, const std::vector<Edge>& read_by_process_0)
      : options_(options), list_(examples::share_of_process_0(read_by_process_0)) {
    vertices_ = options.vertices;
    if (list_.count == 0) return;
    vertices_ = 0;
    if (MYPROC == 0)
      for (const Edge& edge : read_by_process_0)
        vertices_ = std::max({vertices_, edge.from + 1, edge.to + 1});
    vertices_ = all_bcast(vertices_);
  }

  [[nodiscard]] Vertex vertices() const { return vertices_; }
  [[nodiscard]] std::size_t edges() const {
    return list_.count != 0 ? list_.count : options_.edges;
  }
  /// Calls f(from, to) for every edge, and the other way round where the graph is not directed.
  template <class F>
  void for_each_arc(F f) const {
    const auto both = [&](Vertex from, Vertex to) {
      f(from, to);
      if (!options_.directed) f(to, from);
    };
    if (list_.count != 0) {
      examples::for_each(list_, [&](const Edge& edge) { both(edge.from, edge.to); });
      return;
    }
    for (std::size_t e = 0; e < options_.edges; ++e) both(end_of(2 * e), end_of(2 * e + 1));
  }

 private:
  [[nodiscard]] Vertex end_of(std::uint64_t i) const {
    // The square makes vertices with small numbers neighbours of many, as in nets of people or
    // pages.
    const double random = examples::random_real_at(options_.seed, i);
    return static_cast<Vertex>(random * random * options_.vertices);
  }

  Options options_;
  Shared<Edge> list_;
  Vertex vertices_ = 0;
};

// The result of a search. Spread arrays begin as zeros: distances are kept with one added, so that
// 0 is a vertex that has not been reached.
struct Search {
  spread_ptr<std::uint32_t> reached;  // distance + 1
  spread_ptr<Vertex> before;          // the vertex from which it was reached

  explicit Search(std::size_t vertices)
      : reached(all_spread_malloc<std::uint32_t>(vertices)),
        before(all_spread_malloc<Vertex>(vertices)) {}
  void free() {
    all_spread_free(before);
    all_spread_free(reached);
  }
};

// The vertices that this process is to look at next, for others to append to.
class Frontier {
 public:
  explicit Frontier(std::size_t capacity)
      : vertices_(all_malloc<Vertex>(capacity)), count_(all_malloc<std::uint64_t>(1)) {}
  void free() {
    all_free(count_);
    all_free(vertices_);
  }
  /// Appends to the list of process @p owner, which sees the vertex after its next
  /// all_store_sync().
  void append(int owner, Vertex v) const {
    const auto place = fetch_add(toglobal(owner, count_), 1);
    store(toglobal(owner, vertices_ + place), v);
  }
  /// After all_store_sync(): takes the appended vertices. A barrier must follow before others
  /// append.
  [[nodiscard]] std::vector<Vertex> take() {
    std::vector<Vertex> taken(vertices_, vertices_ + *count_);
    *count_ = 0;
    return taken;
  }

 private:
  Vertex* vertices_;
  std::uint64_t* count_;
};

// Answers the number of edges looked at by all.
std::uint64_t search(const Search& table, Vertex from, Vertex vertices, const Neighbours& mine) {
  Frontier frontier((vertices + process_count() - 1) / process_count());
  if (MYPROC == toproc(table.reached + from)) {
    table.reached[from] = 1;
    table.before[from] = from;
    frontier.append(MYPROC, from);
  }
  examples::Progress progress("bfs: vertex", vertices);
  std::uint64_t looked_at = 0;
  std::uint64_t done = 0;
  for (std::uint32_t distance = 1;; ++distance) {
    all_store_sync();
    const std::vector<Vertex> now = frontier.take();
    // A reduction is a barrier too: all processes have taken their lists.
    const std::uint64_t left = all_reduce_add<std::uint64_t>(now.size());
    if (left == 0) break;
    progress.at(done += left);
    for (const Vertex v : now) {
      const std::size_t k = v / process_count();
      looked_at += mine.first[k + 1] - mine.first[k];
      for (std::size_t i = mine.first[k]; i < mine.first[k + 1]; ++i) {
        const Vertex next = mine.items[i];
        const global_ptr<std::uint32_t> place = table.reached + next;
        if (read(place) != 0) continue;  // the usual case, and cheaper than to try
        if (compare_swap(place, 0, distance + 1) != 0) continue;
        put(table.before + next, v);
        frontier.append(toproc(place), next);
      }
    }
    splitc::sync();  // for the puts
  }
  frontier.free();
  return all_reduce_add(looked_at);
}

// Distances + 1 by one process.
std::vector<std::uint32_t> search_alone(const Graph& graph, Vertex from) {
  const Neighbours all(graph.vertices(), [&graph](auto f) {
    graph.for_each_arc([&f](Vertex a, Vertex b) { f(a, b); });
  });
  std::vector<std::uint32_t> reached(graph.vertices());
  std::vector<Vertex> queue{from};
  reached[from] = 1;
  examples::Progress progress("bfs: checking vertex", graph.vertices());
  for (std::size_t q = 0; q < queue.size(); ++q) {
    if (q % 4096 == 0) progress.at(q);
    const Vertex v = queue[q];
    for (std::size_t i = all.first[v]; i < all.first[v + 1]; ++i) {
      const Vertex next = all.items[i];
      if (reached[next] != 0) continue;
      reached[next] = reached[v] + 1;
      queue.push_back(next);
    }
  }
  return reached;
}

// Each process checks the paths to its own vertices: the vertex before is one nearer, and an edge
// leads from it. A vertex does not know the arcs into it, so the edges are run through once more.
std::string find_broken_path(const Search& table, const Graph& graph) {
  std::vector<char> has_edge((graph.vertices() + process_count() - 1) / process_count());
  std::vector<Vertex> before(has_edge.size());
  std::vector<std::uint32_t> reached(has_edge.size());
  std::size_t k = 0;
  for (Vertex v = static_cast<Vertex>(MYPROC); v < graph.vertices();
       v += static_cast<Vertex>(PROCS), ++k) {
    reached[k] = table.reached[v];
    before[k] = table.before[v];
  }
  graph.for_each_arc([&](Vertex from, Vertex to) {
    if (to % process_count() == my_number() && before[to / process_count()] == from)
      has_edge[to / process_count()] = 1;
  });
  k = 0;
  for (Vertex v = static_cast<Vertex>(MYPROC); v < graph.vertices();
       v += static_cast<Vertex>(PROCS), ++k) {
    if (reached[k] <= 1) continue;
    if (has_edge[k] == 0 || read(table.reached + before[k]) + 1 != reached[k])
      return fmt::format("vertex {}, at distance {}, cannot be reached from {}", v, reached[k] - 1,
                         before[k]);
  }
  return {};
}

std::string find_wrong_distance(const Search& table, const Graph& graph, Vertex from) {
  const std::vector<std::uint32_t> expected = search_alone(graph, from);
  for (Vertex v = 0; v < graph.vertices(); ++v)
    if (table.reached[v] != expected[v])
      return fmt::format("vertex {} has distance {}, not {}", v,
                         static_cast<std::int64_t>(table.reached[v]) - 1,
                         static_cast<std::int64_t>(expected[v]) - 1);
  return {};
}

void print_path(const Search& table, Vertex from, Vertex to) {
  if (table.reached[to] == 0) {
    fmt::print("no path from {} to {}\n", from, to);
    return;
  }
  std::vector<Vertex> path{to};
  while (path.back() != from) path.push_back(table.before[path.back()]);
  std::reverse(path.begin(), path.end());
  fmt::print("path: {}\n", fmt::join(path, " "));
}

void print_distances(const Search& table, Vertex vertices) {
  // Each process counts its own vertices; a short table is added up distance by distance.
  std::vector<std::uint64_t> counts;
  const auto count = static_cast<std::ptrdiff_t>(vertices);
  for (const std::uint32_t reached : spread_range(table.reached, count).mine()) {
    counts.resize(std::max<std::size_t>(counts.size(), reached + 1));
    ++counts[reached];
  }
  counts.resize(all_reduce_max(counts.size()));
  constexpr std::size_t kShown = 12;
  std::uint64_t further = 0;
  for (std::size_t d = 1; d < counts.size(); ++d) {
    if (d > kShown) {
      further += counts[d];
    } else {
      examples::say("{:8} vertices at distance {}\n", all_reduce_add(counts[d]), d - 1);
    }
  }
  if (counts.size() > kShown + 1)
    examples::say("{:8} vertices further away, {} at most\n", all_reduce_add(further),
                  counts.size() - 2);
  examples::say("{:8} vertices not reached\n", all_reduce_add(counts[0]));
}

int bfs(const Options& options) {
  std::vector<Edge> edges;  // in process 0
  examples::on_process_0([&] {
    if (!options.file.empty()) edges = examples::read_edges(options.file, false);
  });
  const Graph graph(options, edges);
  examples::say("{} vertices and {} edges {}\n", graph.vertices(), graph.edges(),
                options.file.empty() ? fmt::format("by chance, seed {}", options.seed)
                                     : "of " + options.file);
  if (options.from >= graph.vertices() || (options.to != kNone && options.to >= graph.vertices()))
    throw examples::BadInput(
        fmt::format("--from and --to must be vertices: 0 to {}", graph.vertices() - 1));

  // The arcs that start at this process' vertices.
  const Neighbours mine((graph.vertices() + process_count() - 1) / process_count(),
                        [&graph](auto f) {
                          graph.for_each_arc([&f](Vertex from, Vertex to) {
                            if (from % process_count() == my_number())
                              f(from / process_count(), to);
                          });
                        });
  Search table(graph.vertices());
  examples::Stopwatch watch;
  const std::uint64_t looked_at = search(table, options.from, graph.vertices(), mine);
  watch.stop(static_cast<double>(looked_at), "edges");
  print_distances(table, graph.vertices());

  std::string wrong = find_broken_path(table, graph);
  if (MYPROC == 0 && wrong.empty()) wrong = find_wrong_distance(table, graph, options.from);
  if (MYPROC == 0 && wrong.empty() && options.to != kNone)
    print_path(table, options.from, options.to);
  barrier();  // process 0 has read the table
  table.free();
  return examples::verdict(wrong,
                           "every distance is that of a search by one process, every path "
                           "leads along edges");
}

}  // namespace

int splitc_main(int argc, char** argv) {
  Options options;
  examples::Program program("bfs", "Distances from one vertex of a graph to all others.");
  const auto file = program.options().option(
      "FILE", options.file, "Edges, one a line: two numbers of vertices, from 0; else by chance");
  program.options()
      .option("--vertices", options.vertices, "Of the graph by chance")
      .within(1, examples::kMaxVertices)
      .excludes(file);
  program.options()
      .option("--edges", options.edges, "Of the graph by chance; 0: eight for each vertex")
      .within(0, std::int64_t{1} << 36)
      .excludes(file);
  program.options().option("--seed", options.seed, "Of the graph by chance").excludes(file);
  program.options().option("--from", options.from, "The vertex to begin with");
  program.options().option("--to", options.to, "Print the path to this vertex").shows_default("");
  program.options().flag("--directed", options.directed,
                         "Edges lead from the first vertex to the second only");
  return program.run(argc, argv, [&] {
    if (options.edges == 0) options.edges = std::size_t{8} * options.vertices;
    return bfs(options);
  });
}
