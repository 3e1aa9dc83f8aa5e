#include "am/src/handler_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "runtime/error.hpp"

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
      std::errc::bad_address,
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
      throw Error(std::errc::file_exists,
                  fmt::format("typed handler {} is loaded twice: two copies of one library (build "
                              "{}) are open, and "
                              "messages could not tell them apart; load it from one path only",
                              handler.name, handler.module));
    }
    merged.back().entries.push_back(again);
  }
  list = std::move(merged);
}

std::string_view take_line(std::string_view& text) noexcept {
  const std::size_t length = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return line;
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

std::string to_text(std::span<const ListedHandler> list) {
  std::string text;
  for (const ListedHandler& h : list) {
    fmt::format_to(std::back_inserter(text), "{}\t{:#x}\t{}\t{}\n", h.module, h.offset,
                   h.signature_bytes, h.name);
  }
  return text;
}

std::string explain_difference(const RankList& a, const RankList& b) {
  std::string_view rest_a = a.text;
  std::string_view rest_b = b.text;
  std::string_view line_a;
  std::string_view line_b;
  unsigned id = kFirstTypedId;
  for (;; ++id) {
    line_a = take_line(rest_a);
    line_b = take_line(rest_b);
    if (line_a != line_b || (rest_a.empty() && rest_b.empty())) break;
  }
  return fmt::format(
      "the ranks' typed handlers differ, so that a message could run the wrong one; the first that "
      "differs is handler "
      "{}: rank {} ({}) {}; rank {} ({}) {}; start every rank from one build of one program and "
      "its libraries",
      id, a.rank, a.executable, describe_line(line_a), b.rank, b.executable, describe_line(line_b));
}

std::uint64_t digest(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace viaduct::am
