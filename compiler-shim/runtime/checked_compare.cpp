/// Which accesses of two processes in one epoch are races.

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>
#include <utility>

#include "compiler-shim/runtime/checked_state.hpp"

namespace viaduct::shim::checked {
namespace {

namespace detail = viaduct::splitc::detail;

bool is_store(Kind kind) { return kind == Kind::store || kind == Kind::bulk_store; }

Side side_of(const Interval& i) { return {i.place, i.process, i.kind, i.is_write}; }

/// Whether a call other than a barrier may have ordered the two.
bool may_come_before(const Interval& a, const Interval& b) {
  return (a.is_released && b.is_acquired) || (a.is_published && b.is_after_read);
}
bool may_be_ordered(const Interval& a, const Interval& b) {
  return may_come_before(a, b) || may_come_before(b, a);
}

Interval interval_of(std::uint64_t word, const Noted& noted, bool is_write) {
  const Clock& clock = state->clock;
  Interval i;
  i.word = word;
  i.place = noted.place;
  i.process = detail::hot.myproc;
  i.kind = noted.kind;
  i.is_write = is_write;
  i.is_released = clock.is_released(noted.time);
  i.is_acquired = clock.is_acquired(noted.time);
  i.is_published = clock.is_published(noted.time);
  i.is_after_read = clock.is_after_read(noted.time);
  return i;
}

bool continues(const Interval& i, const Interval& next) {
  constexpr std::uint32_t kLongest = 1U << 30;
  return i.word + i.bytes == next.word && i.bytes < kLongest && i.place == next.place &&
         i.kind == next.kind && i.is_released == next.is_released &&
         i.is_acquired == next.is_acquired && i.is_published == next.is_published &&
         i.is_after_read == next.is_after_read;
}

/// Appends accesses of a kind in the order of their addresses, joined where they touch.
class Joiner {
 public:
  Joiner(std::vector<Interval>& to, bool is_write) : to_(to), is_write_(is_write) {}

  void add(std::uint64_t word, const Noted& noted) {
    for (unsigned bytes = noted.bytes; bytes != 0;) {
      const auto first = static_cast<unsigned>(std::countr_zero(bytes));
      const auto length = static_cast<unsigned>(std::countr_one(bytes >> first));
      Interval next = interval_of(word + first, noted, is_write_);
      next.bytes = length;
      bytes &= ~(((1U << length) - 1) << first);
      if (to_.size() > begin_ && continues(to_.back(), next))
        to_.back().bytes += length;
      else
        to_.push_back(next);
    }
  }

 private:
  std::vector<Interval>& to_;
  bool is_write_;
  std::size_t begin_ = to_.size();
};

/// Two places with the kinds of access there, in either order.
using Pair = std::tuple<std::uint32_t, Kind, bool, std::uint32_t, Kind, bool>;
Pair pair_of(const Side& a, const Side& b) {
  const auto one = std::tuple(a.place, a.kind, a.is_write);
  const auto other = std::tuple(b.place, b.kind, b.is_write);
  return one < other ? std::tuple_cat(one, other) : std::tuple_cat(other, one);
}

class Finder {
 public:
  void compare(const Interval& a, const Interval& b, std::uint64_t word) {
    if (a.process == b.process || (!a.is_write && !b.is_write) || may_be_ordered(a, b)) return;
    const Race race{side_of(a), side_of(b), word};
    if (known().insert(pair_of(race.one, race.other)).second) found_.push_back(race);
  }

  /// An access by another process with those of the memory's owner, this process.
  void compare_with_own(const Interval& other) {
    const std::uint64_t end = other.word + other.bytes;
    for (std::uint64_t word = other.word; word < end;) {
      const std::uint64_t next = std::min(end, (word | (kGranuleBytes - 1)) + 1);
      const Granule* const granule = state->shadow.find(word);
      if (granule == nullptr) {
        word = std::min(end, (word | ((std::uint64_t{1} << kPageShift) - 1)) + 1);
        continue;
      }
      const unsigned first = word & (kGranuleBytes - 1);
      const unsigned bytes = ((1U << (next - word)) - 1) << first;
      for (const bool is_write : {false, true}) own_access(other, *granule, is_write, bytes, word);
      word = next;
    }
  }

  [[nodiscard]] std::vector<Race> take() { return std::move(found_); }

 private:
  void own_access(const Interval& other, const Granule& granule, bool is_write, unsigned bytes,
                  std::uint64_t word) {
    const Noted& own = granule.noted[is_write ? 1 : 0];
    const unsigned both = own.bytes & bytes;
    if (both == 0 || (!is_write && !other.is_write)) return;
    // A store arrives when the owner polls: accesses that the owner made before its first poll come
    // before the store.
    if (is_store(other.kind) && own.kind == Kind::local && state->clock.is_before_poll(own.time))
      return;
    const std::uint64_t first = static_cast<unsigned>(std::countr_zero(both));
    compare(other, interval_of(word, own, is_write), (word & ~(kGranuleBytes - 1)) + first);
  }

  // Pairs that this process has found before.
  static std::set<Pair>& known() {
    static std::set<Pair> pairs;
    return pairs;
  }

  std::vector<Race> found_;
};

}  // namespace

std::vector<std::vector<Interval>> accesses_by_owner() {
  std::vector<Page*> pages = state->shadow.pages();
  std::sort(pages.begin(), pages.end(),
            [](const Page* a, const Page* b) { return a->number < b->number; });
  std::vector<std::vector<Interval>> by_owner(detail::hot.procs);
  for (const bool is_write : {false, true}) {
    std::uint32_t owner = detail::kMaxProcesses;
    std::vector<Joiner> joiner;
    for (const Page* page : pages) {
      const std::uint64_t word = page->number << kPageShift;
      const std::uint32_t of = detail::process_of(word);
      if (of == detail::hot.myproc || of >= detail::hot.procs) continue;
      if (of != owner) {
        joiner.clear();
        joiner.emplace_back(by_owner[of], is_write);
        owner = of;
      }
      for (std::size_t g = 0; g < kGranules; ++g)
        joiner.back().add(word + (g << kGranuleShift), page->granules[g].noted[is_write ? 1 : 0]);
    }
  }
  return by_owner;
}

std::vector<Race> find_races(std::vector<Interval> others) {
  Finder finder;
  for (const Interval& other : others) finder.compare_with_own(other);
  std::sort(others.begin(), others.end(),
            [](const Interval& a, const Interval& b) { return a.word < b.word; });
  for (std::size_t i = 0; i < others.size(); ++i) {
    const std::uint64_t end = others[i].word + others[i].bytes;
    for (std::size_t j = i + 1; j < others.size() && others[j].word < end; ++j)
      finder.compare(others[i], others[j], others[j].word);
  }
  return finder.take();
}

}  // namespace viaduct::shim::checked
