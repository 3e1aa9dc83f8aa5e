// Electromagnetic waves on a bipartite graph: electric nodes change by the magnetic ones around
// them, then magnetic nodes by the electric ones, step after step. Split-C's authors used this
// program to show how a program becomes faster without a new algorithm.
//
// Shows   four ways of getting at values that lie elsewhere: --how
//           read   through a global pointer, each time it is needed
//           get    each value once a step into a ghost, a local copy; all gets at once, one sync()
//           store  the owners send to the ghosts: one way, half the messages
//           bulk   the owners send whole runs of values
//         Where all data go by message (VIADUCT_SPLITC_PATH=message) each is faster than the
//         one before it. Between processes of one host a read is a load from the owner's memory:
//         there read and get are faster than store, and bulk still is the fastest.
//         fetch_add to take a place in a list of another process
//         global pointers to the ordinary heap: ghosts, lists
//
// Culler et al., Parallel Programming in Split-C, 1993.

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "examples/splitc/common/edges.hpp"
#include "examples/splitc/common/lists.hpp"
#include "examples/splitc/common/program.hpp"
#include "examples/splitc/common/random.hpp"
#include "examples/splitc/common/shared.hpp"

namespace {

using namespace splitc;
using examples::Blocks;
using examples::Edge;
using examples::Lists;

struct Options {
  std::string file;
  std::size_t nodes = 4000;  // of each kind
  std::size_t degree = 10;
  unsigned far = 20;  // percent
  std::size_t steps = 100;
  std::uint64_t seed = 1;
  std::string how = "bulk";
};

struct Arc {
  std::uint32_t other;  // a node of the other kind
  double weight;
};

// Electric node e to magnetic nodes: most of them near number e, some anywhere.
std::vector<Edge> edges_by_chance(const Options& options) {
  std::vector<Edge> edges;
  edges.reserve(options.nodes * options.degree);
  const std::size_t near = std::min(2 * options.degree + 1, options.nodes);
  for (std::size_t i = 0; i < options.nodes * options.degree; ++i) {
    const std::size_t e = i / options.degree;
    const std::uint64_t random = examples::random_at(options.seed, 2 * i);
    const bool is_far = random % 100 < options.far;
    const std::size_t h =
        is_far ? (random >> 8) % options.nodes
               : (e + options.nodes - near / 2 + (random >> 8) % near) % options.nodes;
    const double weight =
        examples::random_real_at(options.seed, 2 * i + 1) / static_cast<double>(options.degree);
    edges.push_back({static_cast<std::uint32_t>(e), static_cast<std::uint32_t>(h), weight});
  }
  return edges;
}

double first_value(bool electric, std::size_t node) {
  return examples::random_real_at(electric ? 1 : 2, node);
}

// How a node changes: value_of(i) is the value at the other end of arc i. The processes and the
// check use this one formula, so that not a bit may differ.
template <class F>
void change(double& value, const Lists<Arc>& arcs, std::size_t node, F value_of) {
  double sum = 0;
  for (std::size_t i = arcs.first[node]; i < arcs.first[node + 1]; ++i)
    sum += arcs.items[i].weight * value_of(i);
  value -= sum;
}

// This process' nodes of one kind. The values are at the same address in all processes.
class Nodes {
 public:
  Nodes(bool electric, std::size_t count, examples::Shared<Edge> edges)
      : blocks(count),
        values(all_malloc<double>(blocks.most())),
        arcs(blocks.my_size(), [&](auto f) {
          for_each(edges, [&](const Edge& edge) {
            const std::uint32_t node = electric ? edge.from : edge.to;
            const std::uint32_t other = electric ? edge.to : edge.from;
            if (blocks.is_mine(node)) f(blocks.place(node), Arc{other, edge.weight});
          });
        }) {
    for (std::size_t k = 0; k < blocks.my_size(); ++k)
      values[k] = first_value(electric, blocks.my_begin() + k);
  }

  [[nodiscard]] global_ptr<double> place(std::size_t node) const {
    return toglobal(blocks.owner(node), values + blocks.place(node));
  }
  [[nodiscard]] std::vector<double> my_values() const {
    return {values, values + blocks.my_size()};
  }

  Blocks blocks;
  double* values;
  Lists<Arc> arcs;
};

// One kind of nodes, and its access to the values of the other kind.
class Half {
 public:
  Half(Nodes& nodes, const Nodes& others, std::string how)
      : nodes_(nodes), others_(others), how_(std::move(how)) {
    find_sources();
    if (how_ == "store" || how_ == "bulk") ask_owners();
  }

  /// Collective. One half of a step. The other kind's values are those of the half before.
  void run() {
    if (how_ == "read") {
      barrier();  // all have changed the values that we are about to read
      change_all([this](std::size_t i) { return read(sources_[i]); });
      return;
    }
    if (how_ == "get") {
      barrier();
      for (std::size_t g = 0; g < ghosts_.size(); ++g) get(&ghosts_[g], others_.place(remote_[g]));
      splitc::sync();
    } else {
      if (how_ == "store") {
        for (const Wish& wish : wishes_) store(wish.ghost, others_.values[wish.place]);
      } else {
        send_runs();
      }
      all_store_sync();
    }
    // No store can change a ghost while this runs: stores are delivered where we wait or
    // communicate, and here we do not.
    change_all([this](std::size_t i) { return *local_sources_[i]; });
  }

 private:
  // "Send the value of your node number `place` to this ghost."
  struct Wish {
    std::size_t place;
    global_ptr<double> ghost;
  };

  template <class F>
  void change_all(F value_of) {
    for (std::size_t k = 0; k < nodes_.blocks.my_size(); ++k)
      change(nodes_.values[k], nodes_.arcs, k, value_of);
  }

  // Finds for each arc the place of the value at its other end, and makes one ghost for each node
  // of another process, however many arcs lead to it.
  void find_sources() {
    const auto& arcs = nodes_.arcs.items;
    for (const Arc& arc : arcs) {
      sources_.push_back(others_.place(arc.other));
      if (!others_.blocks.is_mine(arc.other)) remote_.push_back(arc.other);
    }
    std::sort(remote_.begin(), remote_.end());
    remote_.erase(std::unique(remote_.begin(), remote_.end()), remote_.end());
    ghosts_.resize(remote_.size());
    for (const Arc& arc : arcs) {
      const auto ghost = std::lower_bound(remote_.begin(), remote_.end(), arc.other);
      local_sources_.push_back(others_.blocks.is_mine(arc.other)
                                   ? others_.values + others_.blocks.place(arc.other)
                                   : &ghosts_[static_cast<std::size_t>(ghost - remote_.begin())]);
    }
  }

  // Tells every owner which of its values go to which of our ghosts. Collective.
  void ask_owners() {
    // The ghosts are in the order of their nodes, so those of one owner are together.
    std::vector<std::vector<Wish>> wishes(examples::process_count());
    for (std::size_t g = 0; g < remote_.size(); ++g)
      wishes[static_cast<std::size_t>(others_.blocks.owner(remote_[g]))].push_back(
          {others_.blocks.place(remote_[g]), global_ptr<double>(&ghosts_[g])});

    // The length of each owner's list is found by taking places in the list before its memory
    // exists.
    auto* taken = all_malloc<std::uint64_t>(1);
    std::vector<std::uint64_t> first(wishes.size());
    for (std::size_t q = 0; q < wishes.size(); ++q)
      first[q] = fetch_add(toglobal(static_cast<int>(q), taken), wishes[q].size());
    barrier();
    wishes_.resize(*taken);
    const auto lists = all_gather(global_ptr<Wish>(wishes_.data()));
    for (std::size_t q = 0; q < wishes.size(); ++q)
      if (!wishes[q].empty())
        bulk_store(lists[q] + static_cast<std::ptrdiff_t>(first[q]), wishes[q].data(),
                   wishes[q].size());
    store_sync(wishes_.size() * sizeof(Wish));
    all_free(taken);

    // By the ghosts' addresses: those that are neighbours there can be sent as one run.
    std::sort(wishes_.begin(), wishes_.end(),
              [](const Wish& a, const Wish& b) { return a.ghost < b.ghost; });
    run_.resize(wishes_.size());
  }

  void send_runs() {
    for (std::size_t i = 0; i < wishes_.size(); ++i) run_[i] = others_.values[wishes_[i].place];
    for (std::size_t begin = 0, end = 0; begin < wishes_.size(); begin = end) {
      for (end = begin + 1; end < wishes_.size(); ++end)
        if (wishes_[end].ghost != wishes_[end - 1].ghost + 1) break;
      bulk_store(wishes_[begin].ghost, run_.data() + begin, end - begin);
    }
  }

  Nodes& nodes_;
  const Nodes& others_;
  std::string how_;
  std::vector<global_ptr<double>> sources_;   // by arc
  std::vector<const double*> local_sources_;  // by arc
  std::vector<std::uint32_t> remote_;         // by ghost: the node that it stands for
  std::vector<double> ghosts_;
  std::vector<Wish> wishes_;  // of other processes
  std::vector<double> run_;   // the values to be sent, in the order of wishes_
};

// Both kinds' values after all steps by one process: electric ones, then magnetic ones.
std::vector<double> run_alone(const std::vector<Edge>& edges, std::size_t electric_count,
                              std::size_t magnetic_count, std::size_t steps) {
  const Lists<Arc> electric_arcs(electric_count, [&](auto f) {
    for (const Edge& edge : edges) f(edge.from, Arc{edge.to, edge.weight});
  });
  const Lists<Arc> magnetic_arcs(magnetic_count, [&](auto f) {
    for (const Edge& edge : edges) f(edge.to, Arc{edge.from, edge.weight});
  });
  std::vector<double> values;
  for (std::size_t k = 0; k < electric_count; ++k) values.push_back(first_value(true, k));
  for (std::size_t k = 0; k < magnetic_count; ++k) values.push_back(first_value(false, k));
  double* electric = values.data();
  double* magnetic = electric + electric_count;
  examples::Progress progress("em3d: checking step", steps);
  for (std::size_t step = 0; step < steps; ++step) {
    progress.at(step);
    for (std::size_t k = 0; k < electric_count; ++k)
      change(electric[k], electric_arcs, k,
             [&](std::size_t i) { return magnetic[electric_arcs.items[i].other]; });
    for (std::size_t k = 0; k < magnetic_count; ++k)
      change(magnetic[k], magnetic_arcs, k,
             [&](std::size_t i) { return electric[magnetic_arcs.items[i].other]; });
  }
  return values;
}

// The first difference of two results, to the bit; empty when they are equal.
std::string difference(const std::vector<double>& found, const std::vector<double>& expected,
                       std::size_t electric_count) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::bit_cast<std::uint64_t>(found[i]) == std::bit_cast<std::uint64_t>(expected[i]))
      continue;
    const bool electric = i < electric_count;
    return fmt::format("{} node {} is {}, not {}", electric ? "electric" : "magnetic",
                       electric ? i : i - electric_count, found[i], expected[i]);
  }
  return {};
}

int em3d(const Options& options) {
  std::vector<Edge> edges;  // in process 0
  examples::on_process_0([&] {
    edges =
        options.file.empty() ? edges_by_chance(options) : examples::read_edges(options.file, true);
  });
  const auto all_edges = examples::share_of_process_0(edges);
  std::size_t electric_count = 0;
  std::size_t magnetic_count = 0;
  for (const Edge& edge : edges) {
    electric_count = std::max<std::size_t>(electric_count, edge.from + 1U);
    magnetic_count = std::max<std::size_t>(magnetic_count, edge.to + 1U);
  }
  electric_count = all_bcast(electric_count);
  magnetic_count = all_bcast(magnetic_count);
  examples::say(
      "{} electric and {} magnetic nodes, {} edges {}, {} steps by {}\n", electric_count,
      magnetic_count, all_edges.count,
      options.file.empty() ? fmt::format("by chance, seed {}", options.seed) : "of " + options.file,
      options.steps, options.how);

  Nodes electric(true, electric_count, all_edges);
  Nodes magnetic(false, magnetic_count, all_edges);
  Half electric_half(electric, magnetic, options.how);
  Half magnetic_half(magnetic, electric, options.how);

  examples::Stopwatch watch;
  examples::Progress progress("em3d: step", options.steps);
  for (std::size_t step = 0; step < options.steps; ++step) {
    progress.at(step);
    electric_half.run();
    magnetic_half.run();
  }
  watch.stop(2 * static_cast<double>(all_edges.count) * static_cast<double>(options.steps),
             "edges");

  std::vector<double> found = examples::collect_on_process_0(electric.my_values());
  const std::vector<double> found_too = examples::collect_on_process_0(magnetic.my_values());
  found.insert(found.end(), found_too.begin(), found_too.end());
  std::string wrong;
  if (MYPROC == 0)
    wrong = difference(found, run_alone(edges, electric_count, magnetic_count, options.steps),
                       electric_count);
  all_free(magnetic.values);
  all_free(electric.values);
  return examples::verdict(wrong, "every value is bit for bit that of one process");
}

}  // namespace

int splitc_main(int argc, char** argv) {
  Options options;
  examples::Program program("em3d", "Waves on a bipartite graph of electric and magnetic nodes.");
  auto& app = program.options();
  const auto file = app.option("FILE", options.file,
                               "Edges, one a line: electric node, magnetic node (numbers from 0), "
                               "weight; without it the graph is made by chance");
  app.option("--nodes", options.nodes, "Of each kind, by chance")
      .within(1, std::int64_t{1} << 28)
      .excludes(file);
  app.option("--degree", options.degree, "Edges of each electric node, by chance")
      .within(1, 1000)
      .excludes(file);
  app.option("--far", options.far, "Percentage of edges that lead anywhere, not nearby")
      .within(0, 100)
      .excludes(file);
  app.option("--seed", options.seed, "Of the graph by chance").excludes(file);
  app.option("--steps", options.steps, "To make").within(0, 1 << 30);
  app.option("--how", options.how, "Values of other processes come by read, get, store, bulk")
      .one_of({"read", "get", "store", "bulk"});
  return program.run(argc, argv, [&] { return em3d(options); });
}
