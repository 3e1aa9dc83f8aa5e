/// The checker's reports, in process 0.

#include <fmt/format.h>
#include <cstdio>
#include <set>
#include <string>
#include <utility>

#include "compiler-shim/runtime/checked_state.hpp"

namespace viaduct::shim::checked {
namespace {

namespace detail = viaduct::splitc::detail;

std::set<std::pair<std::string, std::string>>& reported() {
  static std::set<std::pair<std::string, std::string>> lines;
  return lines;
}

const char* how(const Side& side) {
  switch (side.kind) {
    case Kind::local:
      return side.is_write ? "writes it in its own memory" : "reads it in its own memory";
    case Kind::read:
      return "reads it";
    case Kind::write:
      return "writes it";
    case Kind::get:
      return side.is_write ? "gets a value into it (:=)" : "gets its value (:=)";
    case Kind::put:
      return "puts a value into it (:=)";
    case Kind::store:
      return "stores a value into it (:-)";
    case Kind::bulk_read:
      return side.is_write ? "reads a block into it (bulk_read)" : "reads it (bulk_read)";
    case Kind::bulk_write:
      return side.is_write ? "writes it (bulk_write)" : "writes a block from it (bulk_write)";
    case Kind::bulk_get:
      return side.is_write ? "gets a block into it (bulk_get)" : "gets it (bulk_get)";
    case Kind::bulk_put:
      return side.is_write ? "puts a block into it (bulk_put)" : "puts a block from it (bulk_put)";
    case Kind::bulk_store:
      return side.is_write ? "stores a block into it (bulk_store)"
                           : "stores a block from it (bulk_store)";
  }
  return "accesses it";
}

bool is_store(const Side& side) {
  return side.is_write && (side.kind == Kind::store || side.kind == Kind::bulk_store);
}

}  // namespace

void report(const Race& race) {
  const std::string one = line_of(race.one.place);
  const std::string other = line_of(race.other.place);
  if (!reported().insert(one < other ? std::pair(one, other) : std::pair(other, one)).second)
    return;
  const bool stores = is_store(race.one) || is_store(race.other);
  const std::string text = fmt::format(
      "splitcc --checked: race: no barrier orders two accesses of {} in process {}\n"
      "  {}: process {} {}\n"
      "  {}: process {} {}\n"
      "  remedy: {} between the two, or a lock around each of them\n",
      object_at(race.word), detail::process_of(race.word), one, race.one.process, how(race.one),
      other, race.other.process, how(race.other), stores ? "all_store_sync()" : "barrier()");
  std::fwrite(text.data(), 1, text.size(), stderr);
}

std::size_t reports() { return reported().size(); }

}  // namespace viaduct::shim::checked
