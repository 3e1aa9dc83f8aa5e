#include "tests/soft-verbs/control.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

namespace soft_verbs {

namespace {

constexpr std::array<const char*, kFaults> kFaultNames{"loss",      "delay", "torn",    "scattered",
                                                       "duplicate", "late",  "garbage", "again"};
constexpr std::array<const char*, kCounters> kCounterNames{"packets",
                                                           "lost",
                                                           "delayed",
                                                           "torn",
                                                           "duplicated",
                                                           "late",
                                                           "garbage",
                                                           "again",
                                                           "receiver_not_ready",
                                                           "sequence_errors",
                                                           "retries",
                                                           "unheard_datagrams",
                                                           "refused_calls"};

/// Takes a number off the front of @p text.
bool take_number(std::string_view& text, double& out) {
  const std::string copy(text);
  char* end = nullptr;
  out = std::strtod(copy.c_str(), &end);
  if (end == copy.c_str() || !(out >= 0)) return false;
  text.remove_prefix(static_cast<std::size_t>(end - copy.c_str()));
  return true;
}

bool take_time(std::string_view text, std::uint64_t& out) {
  double value = 0;
  if (!take_number(text, value)) return false;
  const double unit = text == "us" ? 1e3 : text == "ms" ? 1e6 : text == "s" ? 1e9 : 0;
  out = static_cast<std::uint64_t>(value * unit);
  return unit != 0;
}

/// PERCENT% or PERCENT%:TIME.
bool take_rate(Control& control, std::uint32_t fault, std::string_view value) {
  constexpr std::uint64_t kDefaultNs = 1'000'000;
  double percent = 0;
  if (!take_number(value, percent) || percent > 100 || value.empty() || value[0] != '%')
    return false;
  value.remove_prefix(1);
  std::uint64_t time = kDefaultNs;
  if (!value.empty() && (value[0] != ':' || !take_time(value.substr(1), time))) return false;
  control.time_ns[fault] = time;
  control.per_million[fault] = static_cast<std::uint32_t>(percent * 10'000);
  return true;
}

bool apply_one(Control& control, std::string_view name, std::string_view value) {
  if (name == "seed") {
    double number = 0;
    if (!take_number(value, number) || !value.empty()) return false;
    control.seed = static_cast<std::uint64_t>(number);
    return true;
  }
  for (std::uint32_t i = 0; i < kFaults; ++i)
    if (name == kFaultNames[i]) return take_rate(control, i, value);
  return false;
}

}  // namespace

bool apply_faults(Control& control, std::string_view text, std::string& problem) {
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(item.size() == text.size() ? item.size() : item.size() + 1);
    const std::size_t equal = item.find('=');
    if (equal != std::string_view::npos &&
        apply_one(control, item.substr(0, equal), item.substr(equal + 1)))
      continue;
    problem = "'" + std::string(item) + "' is no fault: a fault is NAME=PERCENT% or " +
              "NAME=PERCENT%:TIME, with one of the names";
    for (const char* name : kFaultNames) problem += std::string(" ") + name;
    problem += "; or seed=NUMBER";
    return false;
  }
  return true;
}

std::string describe_faults(const Control& control) {
  std::string text;
  for (std::uint32_t i = 0; i < kFaults; ++i) {
    if (control.per_million[i] == 0) continue;
    text += std::string(kFaultNames[i]) + "=" + std::to_string(control.per_million[i] / 1e4) + "%:";
    text += std::to_string(control.time_ns[i] / 1000) + "us,";
  }
  return text + "seed=" + std::to_string(control.seed);
}

const char* name_of(Counter counter) noexcept { return kCounterNames[counter]; }

Control* open_control(const char* file) noexcept {
  const bool shared = file != nullptr && *file != '\0';
  int fd = -1;
  if (shared) {
    fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat now {};
    const bool good = fd >= 0 && fstat(fd, &now) == 0 &&
                      (now.st_size >= static_cast<off_t>(Control::kFileBytes) ||
                       ftruncate(fd, static_cast<off_t>(Control::kFileBytes)) == 0);
    if (!good) {
      if (fd >= 0) close(fd);
      return nullptr;
    }
  }
  void* const page = mmap(nullptr, Control::kFileBytes, PROT_READ | PROT_WRITE,
                          shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
  if (fd >= 0) close(fd);
  if (page == MAP_FAILED) return nullptr;
  auto* const control = static_cast<Control*>(page);  // a new page holds zeros, which is a state
  control->magic = Control::kMagic;
  return control;
}

bool next_device(std::string_view& list, DeviceDescription& out) {
  std::string_view entry = list.substr(0, list.find(','));
  list.remove_prefix(entry.size() == list.size() ? entry.size() : entry.size() + 1);
  out = {};
  out.name = entry.substr(0, entry.find(':'));
  entry.remove_prefix(out.name.size());
  while (!entry.empty()) {
    entry.remove_prefix(1);
    const std::string_view word = entry.substr(0, entry.find(':'));
    entry.remove_prefix(word.size());
    if (word == "infiniband")
      out.infiniband = true;
    else if (word.size() == 1 && word[0] >= '1' &&
             word[0] <= static_cast<char>('0' + Control::kPortsPerDevice))
      out.ports = static_cast<std::uint32_t>(word[0] - '0');
    else
      return false;
  }
  return !out.name.empty() && out.name.size() < 32;
}

std::string socket_prefix() {
  const char* fabric = std::getenv("SOFT_VERBS_FABRIC");
  return "soft-verbs/" + std::string(fabric != nullptr && *fabric != '\0' ? fabric : "default") +
         "/";
}

}  // namespace soft_verbs
