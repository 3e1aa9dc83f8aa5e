#pragma once
/// @file
/// Runs a set-up again and again, with the n-th call failing each time, until it runs through.

#include <functional>
#include <string>
#include <vector>

namespace set_up {

/// What one attempt takes at most.
inline constexpr unsigned kMostSeconds = 30;

struct Family {
  std::string name;
  /// In the process that tries, before it tries: what exists before the set-up.
  std::function<void()> prepare = [] {};
  /// Sets up, calls is_done(), and takes down again. A std::logic_error says what went wrong.
  std::function<void()> attempt = [] {};
  /// After an attempt that has thrown: works now.
  std::function<void()> again = [] {};
  /// What else may not change, each as a text.
  std::function<std::vector<std::string>()> look = [] { return std::vector<std::string>{}; };
  /// The set-up can be made once in a process, so that each attempt has its own. What is complete
  /// stays until the process ends.
  bool once = false;
  /// Of such a set-up: an attempt takes down what is complete, too.
  bool ends = false;
  /// Whether what is left, as a text, is to be left.
  std::function<bool(const std::string&)> stays = [](const std::string&) { return false; };
  /// Calls fail only from where the attempt calls begins().
  bool late = false;
  /// The process may end with exit code 1, after a sentence.
  bool may_end = false;
  /// The process may stop by abort(), after a sentence.
  bool may_stop = false;
  /// Every n-th call is tried: of allocations, which are many.
  long stride = 1;
};

/// Arms failure number n, in the process that tries; answers whether it has struck.
struct Injection {
  std::string what;
  std::function<void(long)> arm;
  std::function<bool()> disarm;
};

/// What is meant begins: of a family that is `late`. Others may call this, too.
void begins();

/// The set-up is complete: no call fails any more.
void is_done() noexcept;

/// Every attempt in turn.  @return what went wrong, a line for each: a crash, a hang, an exception
/// without a sentence, a descriptor or a mapping that is left, a process of the attempt's that ends
/// badly. @p attempts: how many there were.
[[nodiscard]] std::vector<std::string> try_all(const Family& family, const Injection& injection,
                                               long& attempts);

/// Of tests/fault/set_up/inject.hpp: "memory", "descriptor", "mapping", "thread".
[[nodiscard]] Injection injection_of(const std::string& kind);

/// try_all() with each kind of call; what goes wrong fails the test.
void try_family(Family family);

}  // namespace set_up
