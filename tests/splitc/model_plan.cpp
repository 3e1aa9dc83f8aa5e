#include "tests/splitc/model_plan.hpp"

#include <algorithm>
#include <bit>

namespace viaduct::splitc_test {
namespace {

constexpr std::array<const char*, 28> kKindNames{"read",
                                                 "write",
                                                 "write_fenced",
                                                 "update through a reference",
                                                 "get",
                                                 "put",
                                                 "store",
                                                 "store_now",
                                                 "bulk_read",
                                                 "bulk_write",
                                                 "bulk_get",
                                                 "bulk_put",
                                                 "bulk_store",
                                                 "bulk_store_now",
                                                 "fetch_add",
                                                 "fetch_and",
                                                 "fetch_or",
                                                 "fetch_xor",
                                                 "swap",
                                                 "compare_swap",
                                                 "atomic(pointer)",
                                                 "atomic(process)",
                                                 "atomic without a result",
                                                 "poll",
                                                 "sync",
                                                 "is_sync",
                                                 "wait",
                                                 "is_done"};

bool is_bulk(Kind k) { return k >= Kind::bulk_read && k <= Kind::bulk_store_now; }
bool is_get(Kind k) { return k == Kind::get || k == Kind::bulk_get; }
bool is_store(Kind k) { return k == Kind::store || k == Kind::bulk_store; }
bool is_call(Kind k) { return k >= Kind::call_at && k <= Kind::call_void; }
bool is_modify(Kind k) { return k >= Kind::fetch_add && k <= Kind::compare_swap; }
bool has_handle(Kind k) { return is_get(k) || k == Kind::put || k == Kind::bulk_put; }
bool is_split(Kind k) { return has_handle(k) || k == Kind::store_now || k == Kind::bulk_store_now; }
bool is_read(Kind k) { return k == Kind::read || k == Kind::bulk_read || is_get(k); }

/// Which types @p kind works on.
bool takes(Kind kind, const TypeFacts& type) {
  if (kind == Kind::update) return type.adds;
  if (kind == Kind::swap || kind == Kind::compare_swap) return type.atomic;
  if (is_modify(kind)) return type.atomic && type.integral;
  return true;
}

/// Calls have the types of their functions.
constexpr std::uint8_t kUnsignedLong = 8;
static_assert(std::is_same_v<std::tuple_element_t<kUnsignedLong, Types>, unsigned long>);

class Planner {
 public:
  Planner(const Phase& phase, std::uint32_t process, Contents& contents,
          std::vector<std::uint64_t>& stored)
      : phase_(phase),
        random_(mixed(phase.seed, phase.number, process)),
        contents_(contents),
        stored_(stored),
        slice_((process + phase.number) % phase.procs),
        slice_bytes_(std::max(8U, kArenaBytes / kCellBytes / phase.procs) * kCellBytes),
        turn_(std::size_t{phase.number * phase.procs + process} * (phase.ops / 3)),
        cells_(std::size_t{phase.procs} * kArenas * (kArenaBytes / kCellBytes)) {}

  Plan make() {
    while (plan_.ops.size() < phase_.ops) add_one();
    plan_.landing_bytes = landing_;
    return std::move(plan_);
  }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kStored = 0xffffffff;  // nobody may touch it before the phase ends

  void add_one() {
    Op op;
    const bool in_turn = !phase_.reads_only && random_.below(3) != 0;
    choose(op, in_turn);
    if (op.kind == Kind::poll) return plan_.ops.push_back(op);
    const std::uint32_t bytes = op.count * kTypeFacts[op.type].bytes;
    if (!settle(op, bytes)) return;
    if (is_get(op.kind)) {
      if (landing_ + bytes + 2 * kGuardBytes + 16 > kMaxLanding) return;
      op.landing = (landing_ + kGuardBytes + 15) / 16 * 16;
      landing_ = op.landing + bytes + kGuardBytes;
    }
    apply(op, bytes);
    plan_.ops.push_back(op);
    mark(op, bytes);
    if (in_turn) ++turn_;
  }

  /// Two of three are the next pair of all, so that none is left out.
  void choose_kind_and_type(Op& op, bool in_turn) {
    if (in_turn) {
      const Pair pair = all_pairs()[turn_ % all_pairs().size()];
      op.kind = pair.kind;
      op.type = pair.type;
      return;
    }
    do {
      op.kind = static_cast<Kind>(random_.below(kDataKinds));
    } while (phase_.reads_only && !is_read(op.kind));
    do {
      op.type = static_cast<std::uint8_t>(random_.below(kTypes));
    } while (!takes(op.kind, kTypeFacts[op.type]));
    if (is_call(op.kind)) op.type = kUnsignedLong;
  }

  void choose(Op& op, bool in_turn) {
    choose_kind_and_type(op, in_turn);
    op.target = random_.below(phase_.procs);
    op.arena = static_cast<std::uint8_t>(random_.below(kArenas));
    const std::uint32_t slice = phase_.reads_only ? random_.below(phase_.procs) : slice_;
    const TypeFacts& type = kTypeFacts[op.type];
    // A single value lies in one cell, at any place that is aligned for it.
    const std::uint32_t cell = random_.below(slice_bytes_ / kCellBytes);
    const std::uint32_t room = (kCellBytes - type.bytes) / type.alignment + 1;
    const std::uint32_t in_slice = cell * kCellBytes + random_.below(room) * type.alignment;
    op.offset = slice * slice_bytes_ + in_slice;
    if (is_bulk(op.kind)) op.count = choose_count((slice_bytes_ - in_slice) / type.bytes);
    op.route = static_cast<Route>(random_.below(3));
    if (op.route == Route::spread && op.offset % type.bytes != 0) op.route = Route::global;
  }

  std::uint32_t choose_count(std::uint32_t most) {
    switch (random_.below(4)) {
      case 0:
        return std::min(most, random_.below(3));
      case 1:
        return random_.below(most + 1);
      default:
        return std::min(most, random_.below(40));
    }
  }

  std::uint32_t& cell(const Op& op, std::uint32_t offset) {
    return cells_[(std::size_t{op.target} * kArenas + op.arena) * (kArenaBytes / kCellBytes) +
                  offset / kCellBytes];
  }
  template <class Do>
  void each_cell(const Op& op, std::uint32_t bytes, Do&& act) {
    if (bytes == 0) return;
    for (std::uint32_t at = op.offset / kCellBytes; at <= (op.offset + bytes - 1) / kCellBytes;
         ++at)
      act(cell(op, at * kCellBytes));
  }

  /// Completes what is still under way in the cells. False: a store is, which only the target can
  /// know of.
  bool settle(const Op& op, std::uint32_t bytes) {
    bool free = true;
    each_cell(op, bytes, [&](std::uint32_t& state) { free = free && state != kStored; });
    if (!free) return false;
    each_cell(op, bytes, [&](std::uint32_t& state) {
      if (state != kFree) complete(state - 1);
    });
    return true;
  }

  /// By one of the four ways.
  void complete(std::uint32_t index) {
    Op op;
    const bool all = !has_handle(plan_.ops[index].kind) || random_.below(3) == 0;
    if (all) {
      op.kind = random_.below(2) == 0 ? Kind::sync : Kind::is_sync;
      for (std::uint32_t& state : cells_)
        if (state != kStored) state = kFree;
    } else {
      op.kind = random_.below(2) == 0 ? Kind::wait : Kind::is_done;
      op.refers = index;
      std::replace(cells_.begin(), cells_.end(), index + 1, kFree);
    }
    plan_.ops.push_back(op);
  }

  void mark(const Op& op, std::uint32_t bytes) {
    const auto index = static_cast<std::uint32_t>(plan_.ops.size());
    if (is_split(op.kind)) each_cell(op, bytes, [&](std::uint32_t& state) { state = index; });
    if (is_store(op.kind)) each_cell(op, bytes, [&](std::uint32_t& state) { state = kStored; });
  }

  std::uint32_t put_data(const std::byte* from, std::size_t bytes) {
    const std::size_t at = (plan_.data.size() + 15) / 16 * 16;
    plan_.data.resize(at + bytes);
    if (bytes != 0) std::memcpy(plan_.data.data() + at, from, bytes);
    return static_cast<std::uint32_t>(at);
  }
  std::uint32_t put_word(std::uint64_t word) {
    return put_data(reinterpret_cast<const std::byte*>(&word), 8);
  }

  /// What @p op does to the contents, and what it answers.
  void apply(Op& op, std::uint32_t bytes) {
    std::byte* const at = contents_.at(op.target, op.arena, op.offset);
    if (is_read(op.kind)) {
      op.result = put_data(at, bytes);
    } else if (is_call(op.kind)) {
      apply_call(op, at);
    } else if (is_modify(op.kind) || op.kind == Kind::update) {
      apply_modify(op, at, bytes);
    } else {
      std::vector<std::byte> values(bytes);
      random_.fill(values.data(), bytes);
      op.operand = put_data(values.data(), bytes);
      if (bytes != 0) std::memcpy(at, values.data(), bytes);
      if (is_store(op.kind)) stored_[op.target] += bytes;
    }
  }

  void apply_modify(Op& op, std::byte* at, std::uint32_t bytes) {
    std::uint64_t old = 0;
    std::uint64_t operand = random_.next();
    std::memcpy(&old, at, bytes);
    op.operand = put_word(operand);
    op.result = put_word(old);
    op.second = random_.below(8);
    std::uint64_t now = operand;  // swap
    if (op.kind == Kind::compare_swap) {
      const std::uint64_t expected = random_.below(2) == 0 ? old : random_.next();
      op.second = put_word(expected);
      now = std::memcmp(&expected, &old, bytes) == 0 ? operand : old;
    }
    if (op.kind == Kind::fetch_add) now = old + operand;
    if (op.kind == Kind::fetch_and) now = old & operand;
    if (op.kind == Kind::fetch_or) now = old | operand;
    if (op.kind == Kind::fetch_xor) now = old ^ operand;
    if (op.kind == Kind::update) {
      const std::array<std::uint64_t, 8> after{old + operand, old - operand, old | operand,
                                               old & operand, old ^ operand, old + 1,
                                               old - 1,       old + 1};
      now = after[op.second];
    }
    std::memcpy(at, &now, bytes);
  }

  void apply_call(Op& op, std::byte* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    const std::uint64_t value = random_.next();
    op.operand = put_word(value);
    op.second = random_.below(64);
    if (op.kind == Kind::call_at) {
      op.result = put_word(stir(&word, value, op.second));
    } else if (op.kind == Kind::call_in) {
      const Answer answer{word, word ^ value, value};
      op.result = put_data(reinterpret_cast<const std::byte*>(&answer), sizeof(answer));
      word ^= value;
    } else {
      scrub(&word, value);
    }
    std::memcpy(at, &word, 8);
  }

  const Phase& phase_;
  Random random_;
  Contents& contents_;
  std::vector<std::uint64_t>& stored_;
  std::uint32_t slice_;
  std::uint32_t slice_bytes_;
  std::size_t turn_;                  // of all_pairs()
  std::vector<std::uint32_t> cells_;  // kFree, kStored, or 1 + the operation under way
  std::uint32_t landing_ = 0;
  Plan plan_;
};

}  // namespace

const char* name_of(Kind kind) noexcept { return kKindNames[static_cast<std::size_t>(kind)]; }

const std::vector<Pair>& all_pairs() {
  static const std::vector<Pair> pairs = [] {
    std::vector<Pair> all;
    for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(Kind::poll); ++k)
      for (std::uint8_t type = 0; type < kTypes; ++type) {
        const auto kind = static_cast<Kind>(k);
        if (is_call(kind) ? type == kUnsignedLong : takes(kind, kTypeFacts[type]))
          all.push_back({kind, type});
      }
    return all;
  }();
  return pairs;
}

Plan make_plan(const Phase& phase, std::uint32_t process, Contents& contents,
               std::vector<std::uint64_t>& stored) {
  return Planner(phase, process, contents, stored).make();
}

std::uint64_t stir(std::uint64_t* at, std::uint64_t value, std::uint32_t shift) {
  const std::uint64_t old = *at;
  *at = std::rotl(old, static_cast<int>(shift)) ^ value;
  return old * 3 + value;
}

Answer stir_in(std::uint32_t arena, std::uint32_t offset, std::uint64_t value) {
  auto* at = reinterpret_cast<std::uint64_t*>(memory_here().mine(arena) + offset);
  const std::uint64_t old = *at;
  *at = old ^ value;
  return {old, *at, value};
}

void scrub(std::uint64_t* at, std::uint64_t value) { *at = ~value; }

}  // namespace viaduct::splitc_test
