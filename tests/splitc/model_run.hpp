#pragma once
/// @file
/// Carries out a plan.

#include "tests/splitc/model_plan.hpp"

namespace viaduct::splitc_test {

class Runner {
 public:
  /// @p landing: kMaxLanding bytes for what gets bring.
  Runner(Memory& memory, const Place& place, const Plan& plan, std::byte* landing);

  /// Ends with a sync(): every get and put of the plan is complete.
  void run();

 private:
  template <class T>
  void run_one(const Op& op);
  template <class T>
  void run_single(const Op& op);
  template <class T>
  void run_bulk(const Op& op);
  template <class T>
  void run_modify(const Op& op);
  template <class Pointer>
  void run_modify_at(const Op& op, Pointer p);
  template <class T>
  void run_update(const Op& op);
  template <std::size_t... I>
  void dispatch(const Op& op, std::index_sequence<I...>);
  void run_call(const Op& op);
  void complete(const Op& op);

  template <class T>
  [[nodiscard]] splitc::global_ptr<T> global(const Op& op) const;
  template <class T>
  [[nodiscard]] splitc::spread_ptr<T> spread(const Op& op) const;
  template <class T>
  [[nodiscard]] T value_at(std::uint32_t where) const;
  template <class T>
  void expect(const Op& op, const T& got) const;
  [[nodiscard]] std::string describe(const Op& op) const;
  void expect_landed(const Op& op) const;
  void expect_all_landed() const;

  Memory& memory_;
  const Place& place_;
  const Plan& plan_;
  std::byte* landing_;
  std::vector<splitc::Handle> handles_;  // by operation
  std::vector<std::uint32_t> open_;      // gets that no sync has seen
};

}  // namespace viaduct::splitc_test
