#pragma once
// Reductions and scans. Values are combined in their processes' order and along the same tree,
// whichever process gets the result: pairs among the first 2 * surplus processes, then neighbouring
// blocks of 1, 2, 4, ... places. So the result depends on the number of processes alone, and the
// operator need not be commutative.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "viaduct/splitc/detail/collective.hpp"

namespace viaduct::splitc::detail {

/// The processes that take part in the rounds: *places* 0 to 2^rounds - 1.
struct Places {
  std::uint32_t surplus;

  [[nodiscard]] bool in_pair(std::uint32_t process) const noexcept { return process < 2 * surplus; }
  [[nodiscard]] std::uint32_t of(std::uint32_t process) const noexcept {
    return in_pair(process) ? process / 2 : process - surplus;
  }
  [[nodiscard]] std::uint32_t process(std::uint32_t place) const noexcept {
    return place < surplus ? 2 * place : place + surplus;
  }
};

/// op of two neighbours' values, in their order.
template <class T, class Op>
[[nodiscard]] T combine(Op& op, const T& lower, const T& upper) {
  return static_cast<T>(op(lower, upper));
}

template <class T>
void open_outbox_for(CollectiveEngine& c) {
  if constexpr (sizeof(T) > kSlotBytes) {
    constexpr std::size_t kSpace = (sizeof(T) + kCacheLineBytes - 1) / kCacheLineBytes;
    c.open_outbox((c.rounds() + 2) * kSpace * kCacheLineBytes);
  }
}

/// In each round partners exchange the values that they have combined for 2^round places each. At
/// the end all have the value of all.
template <class T, class Op>
[[nodiscard]] T exchange_rounds(CollectiveEngine& c, Places places, T total, Op& op) {
  const std::uint32_t place = places.of(hot.myproc);
  for (std::uint32_t round = 0; round < c.rounds(); ++round) {
    const std::uint32_t bit = 1U << round;
    const std::uint32_t partner = places.process(place ^ bit);
    c.send(partner, round, total);
    const T theirs = c.receive(partner, round, total);
    total = (place & bit) != 0 ? combine(op, theirs, total) : combine(op, total, theirs);
  }
  return total;
}

template <class T, class Op>
[[nodiscard]] T reduce_to_all(CollectiveEngine& c, const CollectiveCall& call, T value, Op& op,
                              std::uint64_t count = 1) {
  c.begin(call, true, 0, count);
  open_outbox_for<T>(c);
  const Places places{c.surplus()};
  const std::uint32_t me = hot.myproc;
  if (!places.in_pair(me)) [[likely]]
    return exchange_rounds(c, places, value, op);
  if (me % 2 != 0) {
    c.send(me - 1, c.gather_round(), value);
    return c.receive(me - 1, c.spread_round(), value);
  }
  value = combine(op, value, c.receive(me + 1, c.gather_round(), value));
  value = exchange_rounds(c, places, value, op);
  c.send(me + 1, c.spread_round(), value);
  return value;
}

/// The tree of reduce_to_all(), limited to the branches towards @p root.
template <class T, class Op>
[[nodiscard]] T reduce_to_one(CollectiveEngine& c, const CollectiveCall& call, std::uint32_t root,
                              const T& value, Op& op, std::uint64_t count = 1) {
  c.begin(call, false, root, count);
  open_outbox_for<T>(c);
  const Places places{c.surplus()};
  const std::uint32_t me = hot.myproc;
  T total = value;
  if (places.in_pair(me)) {
    const std::uint32_t other = me ^ 1;
    if (me != root && (other == root || me % 2 != 0)) {
      c.send(other, c.gather_round(), value);
      return value;
    }
    const T theirs = c.receive(other, c.gather_round(), value);
    total = me < other ? combine(op, total, theirs) : combine(op, theirs, total);
  }
  const std::uint32_t place = places.of(me), goal = places.of(root);
  for (std::uint32_t round = 0; round < c.rounds(); ++round) {
    const std::uint32_t bit = 1U << round;
    const std::uint32_t neighbour = place ^ bit;
    const std::uint32_t partner = neighbour == goal ? root : places.process(neighbour);
    if (((place ^ goal) & bit) != 0) {
      c.send(partner, round, total);
      return value;
    }
    const T theirs = c.receive(partner, round, total);
    total = (place & bit) != 0 ? combine(op, theirs, total) : combine(op, total, theirs);
  }
  return total;
}

/// Element @p i of the elements at @p bytes, which may lie anywhere.
template <class T>
[[nodiscard]] T element_at(const std::byte* bytes, std::size_t i) noexcept {
  std::array<std::byte, sizeof(T)> one;
  std::memcpy(one.data(), bytes + i * sizeof(T), sizeof(T));
  return std::bit_cast<T>(one);
}

/// As many elements of an array as fit a slot. They are reduced together.
template <class T, std::size_t N>
struct Piece {
  std::byte bytes[N * sizeof(T)] = {};

  explicit Piece(std::size_t /*n*/) noexcept {}
};

/// More elements than a slot holds, N at most. Those alone that there are get copied and sent.
template <class T, std::size_t N>
struct LongPiece {
  std::size_t n;
  std::byte bytes[N * sizeof(T)];

  explicit LongPiece(std::size_t n_) noexcept : n(n_) {}
  LongPiece(const LongPiece& other) noexcept : n(other.n) { copy(other); }
  LongPiece& operator=(const LongPiece& other) noexcept {
    n = other.n;
    copy(other);
    return *this;
  }
  ~LongPiece() = default;
  [[nodiscard]] std::size_t sent_bytes() const noexcept { return n * sizeof(T); }

 private:
  void copy(const LongPiece& other) noexcept {
    std::memmove(bytes, other.bytes, other.sent_bytes());
  }
};

template <class T, std::size_t N>
inline constexpr bool kKnowsItsLength<LongPiece<T, N>> = true;

/// @p n elements at @p data, of @p count in all, as a @p Some.
template <class Some, bool ToAll, class T, class Op>
void reduce_piece(CollectiveEngine& c, const CollectiveCall& call, std::uint32_t root, T* data,
                  std::size_t n, Op& op, std::uint64_t count) {
  auto each = [&op, n](Some lower, const Some& upper) {
    for (std::size_t i = 0; i < n; ++i) {
      const T both = combine(op, element_at<T>(lower.bytes, i), element_at<T>(upper.bytes, i));
      std::memcpy(lower.bytes + i * sizeof(T), &both, sizeof(T));
    }
    return lower;
  };
  Some mine(n);
  if (n != 0) std::memcpy(mine.bytes, data, n * sizeof(T));
  const Some all = ToAll ? reduce_to_all(c, call, mine, each, count)
                         : reduce_to_one(c, call, root, mine, each, count);
  if (n != 0) std::memcpy(static_cast<void*>(data), all.bytes, n * sizeof(T));
}

/// A long array, of which each process reduces a part where all the arrays lie.
///
///     arrays   | part 0 | part 1 | part 2 |      of each process
///     step 1   process p combines part p of all arrays, in its own array
///     step 2   process p copies the other parts, part q from process q
///
/// A part of an array is read by one process in step 1, and written by none before. No process
/// goes on before all have ended the step.
template <class T, class Op>
class InPlace {
 public:
  InPlace(CollectiveEngine& c, const CollectiveCall& call, std::vector<std::byte*> arrays, Op& op,
          std::size_t count)
      : c_(c),
        call_(call),
        arrays_(std::move(arrays)),
        op_(op),
        count_(count),
        places_{c.surplus()},
        scratch_((c.rounds() + 1) * kPart * sizeof(T)) {}

  void run() {
    std::byte* const mine = arrays_[hot.myproc];
    const std::size_t end = begin_of(hot.myproc + 1);
    for (std::size_t at = begin_of(hot.myproc); at < end; at += kPart) {
      const std::size_t n = end - at < kPart ? end - at : kPart;
      const std::byte* const all = combined(0, c_.rounds(), at, n, room(0));
      std::memcpy(mine + at * sizeof(T), all, n * sizeof(T));
      light_poll();
    }
    (void)c_.all_say(call_, count_, true);
    for (std::uint32_t i = 1; i < hot.procs; ++i) {
      const std::uint32_t process = (hot.myproc + i) % hot.procs;
      const std::size_t at = begin_of(process) * sizeof(T);
      c_.copy_array(mine + at, arrays_[process] + at, begin_of(process + 1) * sizeof(T) - at);
    }
    (void)c_.all_say(call_, count_, true);
  }

 private:
  /// Elements that are combined at once.
  static constexpr std::size_t kPart = sizeof(T) < 4096 ? 4096 / sizeof(T) : 1;

  /// The first element that @p process reduces. Two processes seldom write to one cache line.
  [[nodiscard]] std::size_t begin_of(std::uint32_t process) const noexcept {
    constexpr std::size_t kLine = sizeof(T) < kCacheLineBytes ? kCacheLineBytes / sizeof(T) : 1;
    const std::size_t each = (count_ / hot.procs + kLine) / kLine * kLine;
    return process * each < count_ ? process * each : count_;
  }
  /// @p n elements from @p at on, combined for the 2^@p level places from @p place on along the
  /// tree of reduce_to_all(): in @p out, or where they lie.
  [[nodiscard]] const std::byte* combined(std::uint32_t place, std::uint32_t level, std::size_t at,
                                          std::size_t n, std::byte* out) {
    const auto of = [&](std::uint32_t process) { return arrays_[process] + at * sizeof(T); };
    if (level == 0) {
      const std::uint32_t process = places_.process(place);
      return place < places_.surplus ? both(of(process), of(process + 1), n, out) : of(process);
    }
    const std::byte* const lower = combined(place, level - 1, at, n, out);
    const std::uint32_t half = 1U << (level - 1);
    return both(lower, combined(place + half, level - 1, at, n, room(level)), n, out);
  }
  [[nodiscard]] const std::byte* both(const std::byte* lower, const std::byte* upper, std::size_t n,
                                      std::byte* out) {
    for (std::size_t i = 0; i < n; ++i) {
      const T value = combine(op_, element_at<T>(lower, i), element_at<T>(upper, i));
      std::memcpy(out + i * sizeof(T), &value, sizeof(T));
    }
    return out;
  }
  [[nodiscard]] std::byte* room(std::uint32_t level) noexcept {
    return scratch_.data() + level * kPart * sizeof(T);
  }

  CollectiveEngine& c_;
  const CollectiveCall& call_;
  std::vector<std::byte*> arrays_;
  Op& op_;
  std::size_t count_;
  Places places_;
  std::vector<std::byte> scratch_;
};

/// Element by element. Few elements go in a slot, many in pieces of up to 4 KiB.
template <bool ToAll, class T, class Op>
void reduce_array(CollectiveEngine& c, const CollectiveCall& call, std::uint32_t root, T* data,
                  std::size_t count, Op& op) {
  constexpr std::size_t kFew = sizeof(T) < kSlotBytes ? kSlotBytes / sizeof(T) : 1;
  constexpr std::size_t kMany = kFew < 4096 / sizeof(T) ? 4096 / sizeof(T) : kFew;
  constexpr std::size_t kMostInPieces = std::size_t{16} << 10;  // bytes
  if (count <= kFew)
    return reduce_piece<Piece<T, kFew>, ToAll>(c, call, root, data, count, op, count);
  if constexpr (ToAll)
    if (count * sizeof(T) > kMostInPieces) {
      auto arrays = c.arrays_in_place(call, reinterpret_cast<std::byte*>(data), count);
      if (!arrays.empty()) return InPlace<T, Op>(c, call, std::move(arrays), op, count).run();
    }
  for (std::size_t at = 0; at < count; at += kMany)
    reduce_piece<LongPiece<T, kMany>, ToAll>(c, call, root, data + at,
                                             count - at < kMany ? count - at : kMany, op, count);
}

/// @p identity: of an exclusive scan; null: the scan is inclusive.
template <class T, class Op>
[[nodiscard]] T scan(CollectiveEngine& c, const CollectiveCall& call, const T& value, Op& op,
                     const T* identity) {
  c.begin(call, true);
  open_outbox_for<T>(c);
  const Places places{c.surplus()};
  const std::uint32_t me = hot.myproc;
  const bool paired = places.in_pair(me);
  if (paired && me % 2 != 0) {
    c.send(me - 1, c.gather_round(), value);
    const T before = c.receive(me - 1, c.spread_round(), value);
    return identity != nullptr ? before : combine(op, before, value);
  }
  T total = paired ? combine(op, value, c.receive(me + 1, c.gather_round(), value)) : value;
  T before = value;  // of the processes before this place, when there are any
  bool has_before = false;
  const std::uint32_t place = places.of(me);
  for (std::uint32_t round = 0; round < c.rounds(); ++round) {
    const std::uint32_t bit = 1U << round;
    const std::uint32_t partner = places.process(place ^ bit);
    c.send(partner, round, total);
    const T theirs = c.receive(partner, round, total);
    if ((place & bit) == 0) {
      total = combine(op, total, theirs);
      continue;
    }
    before = has_before ? combine(op, theirs, before) : theirs;
    has_before = true;
    total = combine(op, theirs, total);
  }
  if (!paired && identity != nullptr) return has_before ? before : *identity;
  const T through = has_before ? combine(op, before, value) : value;
  if (paired) c.send(me + 1, c.spread_round(), through);
  if (identity != nullptr) return has_before ? before : *identity;
  return through;
}

/// All-reduce as a part of another collective operation; all processes must name the same @p kind,
/// @p count and @p bytes_each.
template <class T, class Op>
[[nodiscard]] T agree(CollectiveKind kind, std::uint64_t count, std::uint64_t bytes_each, T value,
                      Op op) {
  CollectiveCall call = make_collective<T, Op>(kind);
  call.op = Operator::none;
  call.element_bytes = bytes_each;
  call.hash = call.hash * 31 + bytes_each;
  CollectiveEngine& c = collective_engine(to_string(kind));
  return hot.procs == 1 ? value : reduce_to_all(c, call, value, op, count);
}

}  // namespace viaduct::splitc::detail
