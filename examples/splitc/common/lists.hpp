#pragma once
// Many short lists in two arrays: in a graph, the neighbours of each vertex.

#include <cstddef>
#include <numeric>
#include <vector>

namespace examples {

/// List k is items[first[k]] to items[first[k + 1] - 1].
template <class T>
struct Lists {
  std::vector<std::size_t> first;
  std::vector<T> items;

  /// for_each_item(f) calls f(k, item) for every item of every list, in the same order in each
  /// call: the first call counts the items, the second one puts them in their places.
  template <class F>
  Lists(std::size_t count, F for_each_item) : first(count + 1) {
    for_each_item([this](std::size_t k, const T&) { ++first[k + 1]; });
    std::partial_sum(first.begin(), first.end(), first.begin());
    items.resize(first.back());
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for_each_item([&](std::size_t k, const T& item) { items[next[k]++] = item; });
  }
};

}  // namespace examples
