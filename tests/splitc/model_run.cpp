#include "tests/splitc/model_run.hpp"

#include <fmt/format.h>

namespace viaduct::splitc_test {

namespace {
constexpr std::byte kGuard{0xA5};
}

Runner::Runner(Memory& memory, const Place& place, const Plan& plan, std::byte* landing)
    : memory_(memory), place_(place), plan_(plan), landing_(landing), handles_(plan.ops.size()) {
  std::memset(landing_, std::to_integer<int>(kGuard), plan.landing_bytes);
}

void Runner::run() {
  for (const Op& op : plan_.ops) {
    if (op.kind == Kind::poll)
      splitc::poll();
    else if (op.kind >= Kind::sync)
      complete(op);
    else if (op.kind >= Kind::call_at)
      run_call(op);
    else
      dispatch(op, std::make_index_sequence<kTypes>());
  }
  splitc::sync();
  expect_all_landed();
}

template <std::size_t... I>
void Runner::dispatch(const Op& op, std::index_sequence<I...>) {
  ((op.type == I ? run_one<std::tuple_element_t<I, Types>>(op) : void()), ...);
}

template <class T>
void Runner::run_one(const Op& op) {
  if (op.kind >= Kind::fetch_add)
    run_modify<T>(op);
  else if (op.kind >= Kind::bulk_read)
    run_bulk<T>(op);
  else if (op.kind == Kind::update)
    run_update<T>(op);
  else
    run_single<T>(op);
}

template <class T>
void Runner::run_single(const Op& op) {
  const auto p = global<T>(op);
  const auto s = spread<T>(op);
  const bool by_spread = op.route == Route::spread;
  splitc::Handle& handle = handles_[static_cast<std::size_t>(&op - plan_.ops.data())];
  auto* const landing = reinterpret_cast<T*>(landing_ + op.landing);
  switch (op.kind) {
    case Kind::read:
      if (op.route == Route::reference) return expect<T>(op, *p);
      return expect<T>(op, by_spread ? splitc::read(s) : splitc::read(p));
    case Kind::get:
      handle = by_spread ? splitc::get(landing, s) : splitc::get(landing, p);
      return open_.push_back(static_cast<std::uint32_t>(&op - plan_.ops.data()));
    default:
      break;
  }
  const T value = value_at<T>(op.operand);
  switch (op.kind) {
    case Kind::write:
      if (op.route == Route::reference)
        *p = value;
      else
        by_spread ? splitc::write(s, value) : splitc::write(p, value);
      return;
    case Kind::write_fenced:
      return by_spread ? splitc::write_fenced(s, value) : splitc::write_fenced(p, value);
    case Kind::put:
      handle = by_spread ? splitc::put(s, value) : splitc::put(p, value);
      return;
    case Kind::store:
      return by_spread ? splitc::store(s, value) : splitc::store(p, value);
    default:
      return by_spread ? splitc::store_now(s, value) : splitc::store_now(p, value);
  }
}

template <class T>
void Runner::run_bulk(const Op& op) {
  const auto p = global<T>(op);
  const auto* const from = reinterpret_cast<const T*>(plan_.data.data() + op.operand);
  const auto index = static_cast<std::uint32_t>(&op - plan_.ops.data());
  switch (op.kind) {
    case Kind::bulk_read: {
      std::vector<std::byte> to(op.count * sizeof(T) + 2 * kGuardBytes, kGuard);
      auto* const place = to.data() + kGuardBytes;
      splitc::bulk_read(reinterpret_cast<T*>(place), p, op.count);
      expect_bytes(place_, describe(op), place, plan_.data.data() + op.result,
                   op.count * sizeof(T));
      if (place[-1] != kGuard || place[op.count * sizeof(T)] != kGuard)
        fail(place_, describe(op) + ": touched memory beside the place that it reads into");
      return;
    }
    case Kind::bulk_get:
      handles_[index] = splitc::bulk_get(reinterpret_cast<T*>(landing_ + op.landing), p, op.count);
      return open_.push_back(index);
    case Kind::bulk_put: {
      // What is put may be changed when the call returns.
      std::vector<T> values(from, from + op.count);
      handles_[index] = splitc::bulk_put(p, values.data(), op.count);
      return;
    }
    case Kind::bulk_write:
      return splitc::bulk_write(p, from, op.count);
    case Kind::bulk_store: {
      std::vector<T> values(from, from + op.count);
      return splitc::bulk_store(p, values.data(), op.count);
    }
    default: {
      std::vector<T> values(from, from + op.count);
      return splitc::bulk_store_now(p, values.data(), op.count);
    }
  }
}

template <class T>
void Runner::run_modify(const Op& op) {
  if (op.route == Route::spread)
    run_modify_at(op, spread<T>(op));
  else
    run_modify_at(op, global<T>(op));
}

template <class Pointer>
void Runner::run_modify_at(const Op& op, Pointer p) {
  using T = typename Pointer::element_type;
  const T value = value_at<T>(op.operand);
  if constexpr (splitc::detail::Atomic<T>) {
    if (op.kind == Kind::swap) return expect(op, splitc::swap(p, value));
    if (op.kind == Kind::compare_swap)
      return expect(op, splitc::compare_swap(p, value_at<T>(op.second), value));
    if constexpr (std::is_integral_v<T>) {
      if (op.kind == Kind::fetch_add) return expect(op, splitc::fetch_add(p, value));
      if (op.kind == Kind::fetch_and) return expect(op, splitc::fetch_and(p, value));
      if (op.kind == Kind::fetch_or) return expect(op, splitc::fetch_or(p, value));
      return expect(op, splitc::fetch_xor(p, value));
    }
  }
}

template <class T>
void Runner::run_update(const Op& op) {
  if constexpr (kTypeFacts[0].bytes != 0 && std::is_integral_v<T>) {
    // One element further and back again, through the subscript.
    const auto p = global<T>(op) - 3;
    const T value = value_at<T>(op.operand);
    switch (op.second) {
      case 0:
        p[3] += value;
        return;
      case 1:
        p[3] -= value;
        return;
      case 2:
        p[3] |= value;
        return;
      case 3:
        p[3] &= value;
        return;
      case 4:
        p[3] ^= value;
        return;
      case 5:
        ++p[3];
        return;
      case 6:
        return expect(op, static_cast<T>(p[3]--));
      default:
        return expect(op, static_cast<T>(p[3]++));
    }
  }
}

void Runner::run_call(const Op& op) {
  const auto p = global<std::uint64_t>(op);
  const auto value = value_at<std::uint64_t>(op.operand);
  if (op.kind == Kind::call_at && op.route == Route::spread)
    return expect(op, splitc::atomic<stir>(spread<std::uint64_t>(op), value, op.second));
  if (op.kind == Kind::call_at) return expect(op, splitc::atomic<stir>(p, value, op.second));
  if (op.kind == Kind::call_in) {
    const Answer answer = splitc::atomic<stir_in>(static_cast<int>(op.target),
                                                  std::uint32_t{op.arena}, op.offset, value);
    return expect(op, answer);
  }
  splitc::atomic<scrub>(p, value);
}

void Runner::complete(const Op& op) {
  switch (op.kind) {
    case Kind::sync:
      splitc::sync();
      return expect_all_landed();
    case Kind::is_sync:
      while (!splitc::is_sync()) {
      }
      return expect_all_landed();
    case Kind::wait:
      splitc::wait(handles_[op.refers]);
      break;
    default:
      while (!splitc::is_done(handles_[op.refers])) {
      }
      break;
  }
  const Op& completed = plan_.ops[op.refers];
  if (completed.kind == Kind::get || completed.kind == Kind::bulk_get) expect_landed(completed);
}

template <class T>
splitc::global_ptr<T> Runner::global(const Op& op) const {
  return splitc::global_ptr<T>(memory_.at(op.target, op.arena, op.offset));
}

/// By arithmetic that runs across the processes, where the arena is at one address in all of them.
template <class T>
splitc::spread_ptr<T> Runner::spread(const Op& op) const {
  const bool alike = op.arena <= static_cast<std::uint32_t>(Arena::own);
  if (!alike || op.offset % sizeof(T) != 0) return splitc::spread_ptr<T>(global<T>(op));
  const splitc::spread_ptr<T> first(splitc::global_ptr<T>(memory_.at(0, op.arena, 0)));
  const auto row = static_cast<std::ptrdiff_t>(op.offset / sizeof(T));
  return first + (row * PROCS + static_cast<std::ptrdiff_t>(op.target));
}

template <class T>
T Runner::value_at(std::uint32_t where) const {
  T value;
  std::memcpy(static_cast<void*>(&value), plan_.data.data() + where, sizeof(T));
  return value;
}

template <class T>
void Runner::expect(const Op& op, const T& got) const {
  const T wanted = value_at<T>(op.result);
  if (std::memcmp(&got, &wanted, sizeof(T)) == 0) return;
  expect_bytes(place_, describe(op), reinterpret_cast<const std::byte*>(&got),
               plan_.data.data() + op.result, sizeof(T));
}

std::string Runner::describe(const Op& op) const {
  return fmt::format("operation {}: {} of {} {} at {} of process {}, offset {}",
                     &op - plan_.ops.data(), name_of(op.kind), op.count, kTypeNames[op.type],
                     kArenaNames[op.arena], op.target, op.offset);
}

void Runner::expect_landed(const Op& op) const {
  const std::uint32_t bytes = op.count * kTypeFacts[op.type].bytes;
  const std::byte* const at = landing_ + op.landing;
  expect_bytes(place_, describe(op), at, plan_.data.data() + op.result, bytes);
  for (std::uint32_t i = 1; i <= kGuardBytes; ++i)
    if (at[-static_cast<std::ptrdiff_t>(i)] != kGuard || at[bytes + i - 1] != kGuard)
      fail(place_, describe(op) + ": touched memory beside the place that it gets into");
}

void Runner::expect_all_landed() const {
  for (const std::uint32_t index : open_) expect_landed(plan_.ops[index]);
}

}  // namespace viaduct::splitc_test
