#pragma once
// What a process has in memory, as the kernel tells it.

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace stress {

/// The number in a line "Name:  number kB"; 0 when it is another line.
inline std::size_t kilobytes(const std::string& line, const std::string& name) {
  return line.compare(0, name.size() + 1, name + ":") == 0
             ? std::stoul(line.substr(name.size() + 1))
             : 0;
}

/// Whether a line of /proc/PID/smaps begins a mapping, and if so whether it is of memory, not of a
/// program's file: those pages come and go by themselves.
inline bool begins_mapping(const std::string& line, bool& of_memory) {
  const std::size_t space = line.find(' ');
  const std::size_t dash = line.find('-');
  if (dash == std::string::npos || dash > space) return false;
  const std::size_t name = line.find_first_of("/[");
  const auto is = [&](std::string_view what) { return line.compare(name, what.size(), what) == 0; };
  // Queues of an RDMA device are mapped from its file.
  of_memory =
      name == std::string::npos || line[name] == '[' || is("/memfd:") || is("/dev/infiniband/");
  return true;
}

struct Use {
  std::size_t resident = 0;  // private memory and shared memory that this process has touched
  std::size_t tables = 0;    // page tables, which are the kernel's
};
inline Use use_now() {
  Use use;
  bool of_memory = false;
  std::ifstream maps("/proc/self/smaps");
  for (std::string line; std::getline(maps, line);)
    if (!begins_mapping(line, of_memory) && of_memory)
      use.resident += kilobytes(line, "Rss") * 1024;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) use.tables += kilobytes(line, "VmPTE") * 1024;
  return use;
}

/// The mean of what each peer has added; 0 where the process has shrunk. Of four peers and more the
/// one that added most is left out: at a time of their own the allocator gives memory back and
/// takes it again, and the kernel joins small pages to a huge one, which has nothing to do with the
/// peer of that moment.
inline std::size_t mean_growth(std::vector<std::ptrdiff_t> each) {
  constexpr std::size_t kEnough = 4;
  if (each.size() >= kEnough) each.erase(std::max_element(each.begin(), each.end()));
  const auto sum = std::accumulate(each.begin(), each.end(), std::ptrdiff_t{0});
  return sum > 0 ? static_cast<std::size_t>(sum) / each.size() : 0;
}

}  // namespace stress
