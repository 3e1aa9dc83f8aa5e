#include "runtime/src/control_group.hpp"

#include <unistd.h>
#include <charconv>
#include <fstream>
#include <sstream>

namespace viaduct {
namespace {

bool lists(const std::string& controllers, const std::string& wanted) {
  std::istringstream words(controllers);
  std::string word;
  while (std::getline(words, word, ',')) {
    if (word == wanted) return true;
  }
  return false;
}

/// The group's directory and its ancestors up to the mount point. A container may see only the
/// mount point of a path that the host counts from higher up: directories that are not there are
/// passed over.
void add_ancestors(std::vector<ControlGroup>& groups, const std::string& mount, std::string path,
                   bool version2) {
  while (true) {
    const std::string directory = path == "/" ? mount : mount + path;
    if (::access(directory.c_str(), R_OK | X_OK) == 0) groups.push_back({directory, version2});
    const std::size_t slash = path.rfind('/');
    if (path == "/" || slash == std::string::npos) return;
    path = slash == 0 ? "/" : path.substr(0, slash);
  }
}

}  // namespace

std::optional<std::string> read_small_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<std::uint64_t> read_number(const std::string& path) {
  const auto text = read_small_file(path);
  if (!text) return std::nullopt;
  std::uint64_t number = 0;
  const auto result = std::from_chars(text->data(), text->data() + text->size(), number);
  if (result.ec != std::errc{}) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> field_of(const std::string& text, const std::string& field) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t number = 0;
    if (words >> name >> number && name == field) return number;
  }
  return std::nullopt;
}

std::vector<ControlGroup> control_groups(const std::string& root, const std::string& controller) {
  std::vector<ControlGroup> groups;
  std::istringstream lines(read_small_file(root + "/proc/self/cgroup").value_or(""));
  std::string line;
  while (std::getline(lines, line)) {  // "4:memory:/path" in version 1, "0::/path" in version 2
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      const std::string hybrid = root + "/sys/fs/cgroup/unified";
      const bool is_hybrid = ::access(hybrid.c_str(), X_OK) == 0;
      add_ancestors(groups, is_hybrid ? hybrid : root + "/sys/fs/cgroup", path, true);
    } else if (lists(controllers, controller)) {
      add_ancestors(groups, root + "/sys/fs/cgroup/" + controller, path, false);
    }
  }
  return groups;
}

}  // namespace viaduct
