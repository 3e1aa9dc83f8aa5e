/// Lines of the source and names of variables, from the program's file: reports alone need them.

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler-shim/runtime/checked_state.hpp"
#include "compiler-shim/runtime/spread.hpp"
#include "viaduct/runtime/file_descriptor.hpp"
#include "viaduct/runtime/mapped_memory.hpp"

extern char** environ;

namespace viaduct::shim::checked {
namespace {

namespace detail = viaduct::splitc::detail;

std::string program_path() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length <= 0 ? std::string() : std::string(path.data(), static_cast<std::size_t>(length));
}

/// One process of addr2line for all questions, which answers a line for each line: it reads the
/// debug information only once.
class LineTeller {
 public:
  LineTeller() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
    end_ = FileDescriptor(ends[0]);
    const FileDescriptor theirs(ends[1]);
    std::string path = program_path();
    const std::array<const char*, 4> words = {"addr2line", "-e", path.c_str(), nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const int problem = ::posix_spawnp(&child_, words[0], &actions, nullptr,
                                       const_cast<char* const*>(words.data()), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (problem != 0) child_ = 0;
  }
  ~LineTeller() {
    end_.reset();
    while (child_ > 0 && ::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  LineTeller(const LineTeller&) = delete;
  LineTeller& operator=(const LineTeller&) = delete;

  /// An empty answer: there is no addr2line.
  [[nodiscard]] std::string ask(std::uint32_t code) const {
    const std::string question = fmt::format("{:#x}\n", code);
    if (child_ <= 0 || ::send(end_.get(), question.data(), question.size(), MSG_NOSIGNAL) < 0)
      return {};
    std::string answer;
    while (answer.empty() || answer.back() != '\n') {
      char c = 0;
      const ssize_t got = ::recv(end_.get(), &c, 1, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return {};
      answer += c;
    }
    return answer;
  }

 private:
  FileDescriptor end_;
  pid_t child_ = 0;
};

/// The path without the folder that the program runs in.
std::string shorter(std::string path) {
  std::array<char, PATH_MAX> folder{};
  if (::getcwd(folder.data(), folder.size()) == nullptr) return path;
  const std::string begin = std::string(folder.data()) + "/";
  return path.substr(0, begin.size()) == begin ? path.substr(begin.size()) : path;
}

std::string find_line(std::uint32_t place) {
  // The call ends before the place that it returns to.
  static const LineTeller teller;
  std::string line = teller.ask(place - 1);
  line = line.substr(0, line.find_first_of("\n("));
  while (!line.empty() && line.back() == ' ') line.pop_back();
  if (line.empty() || line.front() == '?' || line.back() == '?')
    return fmt::format(
        "code address {:#x}, whose line is not known (addr2line of binutils and the "
        "program with its debug information tell it)",
        place - 1);
  return shorter(line);
}

template <class T>
bool copy_at(std::string_view file, std::uint64_t at, T& to) {
  if (at > file.size() || file.size() - at < sizeof(T)) return false;
  std::memcpy(&to, file.data() + at, sizeof(T));
  return true;
}

/// A file's bytes; none when it cannot be read.
MappedMemory map_file(const char* path) {
  const FileDescriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (!file.is_open() || ::fstat(file.get(), &about) != 0 || about.st_size <= 0) return {};
  const auto bytes = static_cast<std::size_t>(about.st_size);
  return {::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0), bytes};
}

struct Variable {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::string name;
};

void read_symbols(std::string_view file, const Elf64_Shdr& symbols, const Elf64_Shdr& names,
                  std::vector<Variable>& to) {
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    if (!copy_at(file, symbols.sh_offset + at, symbol)) return;
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size == 0) continue;
    const std::uint64_t name = names.sh_offset + symbol.st_name;
    if (name < file.size())
      to.push_back({symbol.st_value, symbol.st_size, std::string(file.data() + name)});
  }
}

/// The program's static variables, from its symbol table; none when it was stripped.
std::vector<Variable> read_variables() {
  const MappedMemory mapped = map_file("/proc/self/exe");
  const std::string_view file(reinterpret_cast<const char*>(mapped.get()), mapped.bytes());
  std::vector<Variable> variables;
  Elf64_Ehdr header;
  if (!copy_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return variables;
  const auto section = [&](std::uint64_t number, Elf64_Shdr& to) {
    return copy_at(file, header.e_shoff + number * sizeof(Elf64_Shdr), to);
  };
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr symbols;
    Elf64_Shdr names;
    if (section(i, symbols) && symbols.sh_type == SHT_SYMTAB && section(symbols.sh_link, names))
      read_symbols(file, symbols, names, variables);
  }
  return variables;
}

}  // namespace

std::string line_of(std::uint32_t place) {
  static std::map<std::uint32_t, std::string> known;
  const auto [at, is_new] = known.try_emplace(place);
  if (is_new) at->second = find_line(place);
  return at->second;
}

std::string object_at(std::uint64_t word) {
  const std::string array = spread_array_at(word);
  if (!array.empty()) return array;
  const std::uint64_t address = detail::address_of(word);
  static const std::vector<Variable> variables = read_variables();
  for (const Variable& v : variables)
    if (address - v.begin < v.bytes)
      return address == v.begin ? v.name : fmt::format("{} (byte {})", v.name, address - v.begin);
  return fmt::format("address {:#x}", address);
}

}  // namespace viaduct::shim::checked
