#include "am/src/handler_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::am {
namespace {

auto key(const ListedHandler& handler) {
  return std::tie(handler.module, handler.offset, handler.name, handler.signature_bytes);
}

ListedHandler identify(std::span<const HandlerEntry> entries, std::size_t which,
                       std::span<const Module> modules) {
  const auto address = reinterpret_cast<std::uintptr_t>(entries[which].function);
  for (const Module& module : modules) {
    if (!module.contains(address)) continue;
    return {module.identity,
            address - module.base,
            entries[which].name,
            entries[which].signature_bytes,
            {which}};
  }
  // Its name went away with its module: not to be read.
  throw Error(
      errors::handler_library, std::errc::bad_address,
      fmt::format(
          "typed handler number {} in order of registration, at address {:#x}, is in none of the "
          "modules loaded: its shared library was closed again; keep it open as long as the Job",
          which, address));
}

// Registrations of one function are one handler: a library that hides its symbols registers once
// more.
void merge_repeated(std::vector<ListedHandler>& list, std::span<const HandlerEntry> entries) {
  std::vector<ListedHandler> merged;
  for (ListedHandler& handler : list) {
    if (merged.empty() || key(merged.back()) != key(handler)) {
      merged.push_back(std::move(handler));
      continue;
    }
    const std::size_t first = merged.back().entries.front();
    const std::size_t again = handler.entries.front();
    if (entries[first].function != entries[again].function) {
      throw Error(errors::handler_library, std::errc::file_exists,
                  fmt::format("typed handler {} is loaded twice: two copies of one library (build "
                              "{}) are open, and "
                              "messages could not tell them apart; load it from one path only",
                              handler.name, handler.module));
    }
    merged.back().entries.push_back(again);
  }
  list = std::move(merged);
}

// Module, offset, signature, name; any of them empty when a line is not ours.
std::string describe_line(std::string_view line) {
  if (line.empty()) return "has no more handlers";
  std::array<std::string_view, 4> field;
  for (std::string_view& f : field) {
    const std::size_t length =
        &f == &field.back() ? line.size() : std::min(line.find('\t'), line.size());
    f = line.substr(0, length);
    line.remove_prefix(std::min(length + 1, line.size()));
  }
  return fmt::format("has {} ({} bytes of arguments) at offset {} of build {}", field[3], field[2],
                     field[1], field[0]);
}

}  // namespace

std::vector<ListedHandler> list_handlers(std::span<const HandlerEntry> entries,
                                         std::span<const Module> modules) {
  std::vector<ListedHandler> list;
  for (std::size_t i = 0; i < entries.size(); ++i) list.push_back(identify(entries, i, modules));
  std::stable_sort(list.begin(), list.end(),
                   [](const ListedHandler& a, const ListedHandler& b) { return key(a) < key(b); });
  merge_repeated(list, entries);
  return list;
}

std::string line_of(const ListedHandler& handler) {
  return fmt::format("{}\t{:#x}\t{}\t{}", handler.module, handler.offset, handler.signature_bytes,
                     handler.name);
}

std::vector<std::uint64_t> digests_of(std::span<const ListedHandler> list) {
  std::vector<std::uint64_t> digests;
  for (const ListedHandler& handler : list) digests.push_back(digest(line_of(handler)));
  return digests;
}

std::size_t first_difference(std::span<const std::uint64_t> a,
                             std::span<const std::uint64_t> b) noexcept {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                  a.begin());
}

std::string explain_difference(std::size_t place, const DifferingSide& a, const DifferingSide& b) {
  return fmt::format(
      "the ranks' typed handlers differ, so that a message could run the wrong one; the first that "
      "differs is handler {}: rank {} ({}) {}; rank {} ({}) {}; start every rank from one build of "
      "one program and its libraries",
      kFirstTypedId + place, a.rank, a.executable, describe_line(a.line), b.rank, b.executable,
      describe_line(b.line));
}

std::uint64_t digest(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace viaduct::am
