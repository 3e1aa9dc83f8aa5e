#include "tests/fault/leftovers.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string_view>
#include <thread>

#include "tests/multiprocess/launcher_driver.hpp"

namespace fault {
namespace {

std::set<std::string> names_in(const std::string& directory) {
  std::set<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(directory.c_str()), ::closedir);
  while (const dirent* entry = listing ? ::readdir(listing.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.insert(name);
  }
  return names;
}

/// Abstract sockets by the link that a process has to them in /proc/PID/fd.
std::map<std::string, std::string> abstract_sockets() {
  std::map<std::string, std::string> names;
  std::ifstream file("/proc/net/unix");
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find('@');
    if (at == std::string::npos) continue;
    std::istringstream columns(line);
    std::string inode;
    for (int column = 0; column < 7; ++column) columns >> inode;
    names["socket:[" + inode + "]"] = line.substr(at);
  }
  return names;
}

/// Of software devices (tests/soft-verbs) in this process's fabric.
std::set<std::string> device_sockets() {
  const char* const fabric = std::getenv("SOFT_VERBS_FABRIC");
  const std::string own = std::string("@soft-verbs/") + (fabric != nullptr ? fabric : "") + "/";
  std::set<std::string> names;
  for (const auto& [link, name] : abstract_sockets())
    if (name.rfind(own, 0) == 0) names.insert(name);
  return names;
}

bool is_memory_file(const std::string& path) {
  std::array<char, 256> target{};
  const ssize_t bytes = ::readlink(path.c_str(), target.data(), target.size() - 1);
  return bytes > 0 && std::string(target.data()).find("/memfd:viaduct") == 0;
}

std::set<std::string> new_ones(const std::set<std::string>& now,
                               const std::set<std::string>& before) {
  std::set<std::string> found;
  for (const std::string& name : now)
    if (before.count(name) == 0) found.insert(name);
  return found;
}

/// Whether a process has the file @p path mapped or open.
bool is_in_use(const std::string& path) {
  for (const std::string& pid : names_in("/proc")) {
    if (std::isdigit(static_cast<unsigned char>(pid.front())) == 0) continue;
    std::ifstream maps("/proc/" + pid + "/maps");
    for (std::string line; std::getline(maps, line);)
      if (line.ends_with(" " + path)) return true;
    const std::string directory = "/proc/" + pid + "/fd";
    for (const std::string& name : names_in(directory)) {
      std::array<char, 256> target{};
      if (::readlink((directory + "/" + name).c_str(), target.data(), target.size() - 1) > 0 &&
          path == target.data())
        return true;
    }
  }
  return false;
}

/// The memory file that a line of /proc/PID/maps is of, or {0, 0}.
std::pair<dev_t, ino_t> file_of(const std::string& line) {
  unsigned major_number = 0;
  unsigned minor_number = 0;
  unsigned long inode = 0;
  if (line.find("/memfd:viaduct") == std::string::npos ||
      std::sscanf(line.c_str(), "%*s %*s %*s %x:%x %lu", &major_number, &minor_number, &inode) != 3)
    return {};
  return {makedev(major_number, minor_number), inode};
}

}  // namespace

Leftovers::Leftovers(std::string directory)
    : directory_(std::move(directory)),
      shared_memory_(names_in("/dev/shm")),
      device_sockets_(device_sockets()) {}

void Leftovers::note_memory_of(pid_t pid) {
  const std::string directory = "/proc/" + std::to_string(pid) + "/fd";
  for (const std::string& name : names_in(directory)) {
    const std::string path = directory + "/" + name;
    struct stat status {};
    if (is_memory_file(path) && ::stat(path.c_str(), &status) == 0)
      memory_.emplace(status.st_dev, status.st_ino);
  }
}

void Leftovers::note_sockets_of(const std::string& tag) {
  const auto sockets = abstract_sockets();
  for (const pid_t pid : driver::processes_with(tag)) {
    const std::string directory = "/proc/" + std::to_string(pid) + "/fd";
    for (const std::string& name : names_in(directory)) {
      std::array<char, 64> target{};
      if (::readlink((directory + "/" + name).c_str(), target.data(), target.size() - 1) <= 0)
        continue;
      if (const auto found = sockets.find(target.data()); found != sockets.end())
        sockets_.insert(found->second);
    }
  }
}

std::string Leftovers::look(const std::string& tag) const {
  if (const auto left = driver::processes_with(tag); !left.empty())
    return "process " + std::to_string(left.front()) + " (" + driver::name_of(left.front()) +
           ") is left";
  if (const auto left = names_in(directory_); !left.empty())
    return "file " + directory_ + "/" + *left.begin() + " is left";
  // Other programs of the machine make such files, too: those are in use.
  for (const std::string& name : new_ones(names_in("/dev/shm"), shared_memory_))
    if (!is_in_use("/dev/shm/" + name)) return "/dev/shm/" + name + " is left";
  if (const auto left = new_ones(device_sockets(), device_sockets_); !left.empty())
    return "the abstract socket " + *left.begin() + " is left";
  for (const auto& [link, name] : abstract_sockets())
    if (sockets_.count(name) != 0) return "the abstract socket " + name + " is left";
  for (const std::string& pid : names_in("/proc")) {
    if (std::isdigit(static_cast<unsigned char>(pid.front())) == 0) continue;
    std::ifstream maps("/proc/" + pid + "/maps");
    for (std::string line; std::getline(maps, line);)
      if (memory_.count(file_of(line)) != 0)
        return "process " + pid + " has the job's memory mapped: " + line;
    const std::string directory = "/proc/" + pid + "/fd";
    for (const std::string& name : names_in(directory)) {
      const std::string path = directory + "/" + name;
      struct stat status {};
      if (is_memory_file(path) && ::stat(path.c_str(), &status) == 0 &&
          memory_.count({status.st_dev, status.st_ino}) != 0)
        return "process " + pid + " has the job's memory open";
    }
  }
  return {};
}

std::string Leftovers::find(const std::string& tag, double seconds) const {
  using Clock = std::chrono::steady_clock;
  const auto limit = Clock::now() + std::chrono::duration<double>(seconds);
  while (true) {
    const std::string found = look(tag);
    if (found.empty() || Clock::now() > limit) return found;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace fault
