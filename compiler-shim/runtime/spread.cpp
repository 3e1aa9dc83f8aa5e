/// Spread arrays of a program: static ones are allocated before splitc_main, automatic ones where
/// they are declared.

#include "compiler-shim/runtime/spread.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler-shim/runtime/c_callable.hpp"
#include "compiler-shim/runtime/leave_together.hpp"
#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/splitc/alloc.hpp"
#include "viaduct/splitc/collective.hpp"

namespace {

namespace detail = viaduct::splitc::detail;
using detail::CallPlace;

vsc_unit* first_unit = nullptr;
vsc_unit** end_of_units = &first_unit;

struct Shape {
  unsigned long count;
  unsigned long bytes;
  CallPlace place;
};
std::unordered_map<vsc_word*, Shape> static_arrays;

struct Automatic {
  vsc_word word;
  Shape shape;
};
std::vector<Automatic> automatic_arrays;  // the innermost scope's last

/// While an AtPlace lives, sentences about collective calls name its place.
class AtPlace {
 public:
  explicit AtPlace(const CallPlace& place) noexcept : before_(detail::call_place) {
    detail::call_place = place;
  }
  ~AtPlace() { detail::call_place = before_; }
  AtPlace(const AtPlace&) = delete;
  AtPlace& operator=(const AtPlace&) = delete;

 private:
  CallPlace before_;
};

[[noreturn]] void refuse(const Shape& shape, const std::string& why) {
  viaduct::violate_contract(viaduct::errors::spread_array,
                            fmt::format("{}:{}: spread array {}: {}", shape.place.file,
                                        shape.place.line, shape.place.what, why));
}

vsc_word allocate(const Shape& shape) {
  // Negative bounds arrive as numbers that no machine has the memory for.
  constexpr unsigned long kTooMany = 1UL << 47;
  if (shape.count > kTooMany || shape.bytes > kTooMany)
    refuse(shape, fmt::format("{} elements of {} bytes: a bound is negative or too large",
                              static_cast<long>(shape.count), static_cast<long>(shape.bytes)));
  const AtPlace here(shape.place);
  try {
    const vsc_word word =
        detail::all_spread_malloc(std::max(shape.count, 1UL), std::max(shape.bytes, 1UL));
    viaduct::shim::leave_together("allocation of a spread array");
    return word;
  } catch (const viaduct::Error& problem) {
    if (problem.code() == std::errc::connection_reset) throw;  // a process is lost
    refuse(shape, problem.what());
  }
}

/// "NAME[element]" where @p word lies in the array that begins at @p array, else nothing.
std::string name_within(vsc_word word, vsc_word array, const Shape& shape) {
  if (shape.bytes == 0 || detail::address_of(word) < detail::address_of(array)) return {};
  const unsigned long row = (detail::address_of(word) - detail::address_of(array)) / shape.bytes;
  const unsigned long element = row * detail::hot.procs + detail::process_of(word);
  if (element >= shape.count) return {};
  return fmt::format("{}[{}]", shape.place.what, element);
}

}  // namespace

static_assert(sizeof(CallPlace) == sizeof(vsc_place_in_source) &&
              offsetof(CallPlace, what) == offsetof(vsc_place_in_source, what) &&
              offsetof(CallPlace, file) == offsetof(vsc_place_in_source, file) &&
              offsetof(CallPlace, line) == offsetof(vsc_place_in_source, line));

// The linker's names for the ends of the section that VSC_OWN fills; null when no file has one.
extern "C" {
[[gnu::weak]] extern vsc_word* const __start_vsc_own[];
[[gnu::weak]] extern vsc_word* const __stop_vsc_own[];
}

namespace viaduct::shim {

void complete_static_pointers() {
  for (vsc_word* const* at = __start_vsc_own; at != __stop_vsc_own; ++at)
    **at = vsc_global(vsc_local(**at));
}

std::string spread_array_at(vsc_word word) {
  std::string name;
  for (const auto& [array, shape] : static_arrays)
    if (name.empty()) name = name_within(word, *array, shape);
  for (const Automatic& a : automatic_arrays)
    if (name.empty()) name = name_within(word, a.word, a.shape);
  return name;
}

void allocate_static_arrays() {
  for (vsc_unit* unit = first_unit; unit != nullptr; unit = unit->next) unit->allocate();
}

}  // namespace viaduct::shim

extern "C" {

void vsc_register_unit(vsc_unit* unit) {
  unit->next = nullptr;
  *end_of_units = unit;
  end_of_units = &unit->next;
}

void vsc_static_spread(vsc_word* array, unsigned long count, unsigned long bytes, const char* name,
                       const char* file, int line) {
  const Shape shape{count, bytes, {name, file, line}};
  const auto [known, is_new] = static_arrays.try_emplace(array, shape);
  if (is_new) {
    *array = allocate(shape);
    return;
  }
  const Shape& other = known->second;
  if (other.count != count || other.bytes != bytes)
    refuse(shape,
           fmt::format("has {} elements of {} bytes here, but {} of {} at {}:{}: its "
                       "declarations must agree in all files",
                       count, bytes, other.count, other.bytes, other.place.file, other.place.line));
}

vsc_word vsc_auto_spread(unsigned long count, unsigned long bytes, const char* name,
                         const char* file, int line) {
  const Shape shape{count, bytes, {name, file, line}};
  const vsc_word word = allocate(shape);
  automatic_arrays.push_back({word, shape});
  return word;
}

void vsc_auto_free(vsc_word* array) {
  const vsc_word word = *array;
  if (word == 0) return;
  // Arrays of scopes that longjmp has left stay allocated, since no cleanup has run for those
  // scopes.
  const auto found = std::find_if(automatic_arrays.rbegin(), automatic_arrays.rend(),
                                  [&](const Automatic& a) { return a.word == word; });
  CallPlace place;
  if (found != automatic_arrays.rend()) {
    place = found->shape.place;
    automatic_arrays.erase(std::next(found).base());
  }
  const AtPlace here(place);
  detail::all_spread_free(word);
  viaduct::shim::leave_together("the end of a spread array");
}

}  // extern "C"
