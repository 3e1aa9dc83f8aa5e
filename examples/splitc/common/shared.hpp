#pragma once
// Ordinary arrays of one process that the others read. A global pointer reaches any object of any
// process, also in the heap: the others only need the object's address.

#include <algorithm>
#include <cstddef>
#include <vector>

#include "examples/splitc/common/blocks.hpp"

namespace examples {

/// An array somewhere: may be sent, stored and copied as any value.
template <class T>
struct Shared {
  splitc::global_ptr<const T> data;
  std::size_t count = 0;
};

template <class T>
[[nodiscard]] Shared<T> shared(const std::vector<T>& mine) {
  return {splitc::global_ptr<const T>(mine.data()), mine.size()};
}

/// Collective. Process 0's @p array as all see it. Process 0 must not change the array until all
/// have read it, so a barrier comes after their last read.
template <class T>
[[nodiscard]] Shared<T> share_of_process_0(const std::vector<T>& array) {
  return splitc::all_bcast(shared(array));
}

/// Elements [begin, end) of it.
template <class T>
[[nodiscard]] std::vector<T> copy_of(Shared<T> array, std::size_t begin, std::size_t end) {
  std::vector<T> copy(end - begin);
  if (begin < end)
    splitc::bulk_read(copy.data(), array.data + static_cast<std::ptrdiff_t>(begin), end - begin);
  return copy;
}

/// Calls @p f for every element, in order, fetching a few thousand at a time: the next ones are
/// under way while f looks at these.
template <class T, class F>
void for_each(Shared<T> array, F f) {
  constexpr std::size_t kAtATime = 4096;
  std::vector<T> now(kAtATime);
  std::vector<T> next(kAtATime);
  const auto begin_to_fetch = [&](std::vector<T>& to, std::size_t from) {
    const std::size_t some = std::min(kAtATime, array.count - from);
    if (some > 0) splitc::bulk_get(to.data(), array.data + static_cast<std::ptrdiff_t>(from), some);
    return some;
  };
  std::size_t some = begin_to_fetch(next, 0);
  for (std::size_t from = 0; from < array.count;) {
    splitc::sync();
    now.swap(next);
    const std::size_t here = some;
    some = begin_to_fetch(next, from + here);
    for (std::size_t i = 0; i < here; ++i) f(now[i]);
    from += here;
  }
}

/// Collective. All processes' arrays one behind the other, in process 0; empty in the others.
template <class T>
[[nodiscard]] std::vector<T> collect_on_process_0(const std::vector<T>& mine) {
  std::vector<T> all;
  const auto parts = splitc::all_gather_to_one(shared(mine));
  for (const Shared<T>& part : parts) {
    const std::vector<T> copy = copy_of(part, 0, part.count);
    all.insert(all.end(), copy.begin(), copy.end());
  }
  splitc::barrier();  // the others keep theirs until process 0 has read it
  return all;
}

}  // namespace examples
