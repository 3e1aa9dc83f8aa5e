// The order of viaduct-run to an agent: texts NAME=VALUE, each with a zero behind it.

#include <fmt/format.h>
#include <charconv>
#include <cstring>

#include "runtime/errors/codes.hpp"
#include "runtime/launcher/agent.hpp"
#include "runtime/src/secret.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::launcher {
namespace {

class Writer {
 public:
  void add(std::string_view name, std::string_view value) {
    for (const std::string_view part : {name, std::string_view("="), value}) {
      const auto bytes = bytes_of(part);
      bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    bytes_.push_back(std::byte{0});
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

[[noreturn]] void refuse(std::string_view text) {
  throw Error(
      errors::remote_order, std::errc::bad_message,
      fmt::format("viaduct-run's order has \"{}\": use the same viaduct-run on all hosts", text));
}

std::uint32_t number_in(std::string_view text) {
  std::uint32_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) refuse(text);
  return number;
}

std::string flags_of(const Options& options) {
  std::string flags;
  if (options.bind) flags += 'b';
  if (options.label) flags += 'l';
  if (options.keep_going) flags += 'k';
  if (options.quiet) flags += 'q';
  return flags;
}

void set_flags(Options& options, std::string_view flags) {
  const auto has = [flags](char flag) { return flags.find(flag) != std::string_view::npos; };
  options.bind = has('b');
  options.label = has('l');
  options.keep_going = has('k');
  options.quiet = has('q');
}

void read_entry(Order& order, std::string_view name, std::string_view value) {
  if (name == "directory") {
    order.directory = value;
  } else if (name == "flags") {
    set_flags(order.options, value);
  } else if (name == "provider") {
    order.options.provider = value;
  } else if (name == "first") {
    order.part.first_rank = number_in(value);
  } else if (name == "ranks") {
    order.part.ranks = number_in(value);
  } else if (name == "here") {
    order.part.here = number_in(value);
  } else if (name == "host") {
    order.part.host_name = value;
  } else if (name == "on") {
    order.part.hosts.push_back(number_in(value));
  } else if (name == "setting") {
    const std::size_t equals = value.find('=');
    order.part.environment.emplace_back(value.substr(0, equals), value.substr(equals + 1));
  } else if (name == "word") {
    order.options.program.emplace_back(value);
  } else {
    refuse(name);
  }
}

}  // namespace

std::vector<std::byte> encode_order(const Order& order) {
  Writer writer;
  writer.add("directory", order.directory);
  writer.add("flags", flags_of(order.options));
  writer.add("provider", order.options.provider);
  writer.add("first", std::to_string(order.part.first_rank));
  writer.add("ranks", std::to_string(order.part.ranks));
  writer.add("here", std::to_string(order.part.here));
  writer.add("host", order.part.host_name);
  for (const std::uint32_t host : order.part.hosts) writer.add("on", std::to_string(host));
  for (const auto& [name, value] : order.part.environment)
    writer.add("setting", name + "=" + value);
  for (const std::string& word : order.options.program) writer.add("word", word);
  return writer.take();
}

Order decode_order(const std::vector<std::byte>& bytes) {
  Order order;
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    const std::size_t equals = entry.find('=');
    if (entry.size() == rest.size() || equals == std::string_view::npos) refuse(entry);
    read_entry(order, entry.substr(0, equals), entry.substr(equals + 1));
    rest.remove_prefix(entry.size() + 1);
  }
  const std::size_t all = order.part.hosts.size();
  if (order.options.program.empty() || order.part.ranks == 0 || order.part.first_rank > all ||
      order.part.ranks > all - order.part.first_rank)
    refuse("no program, or ranks that do not fit");
  order.options.ranks = static_cast<std::uint32_t>(all);
  return order;
}

}  // namespace viaduct::launcher
