/// @file
/// soft-verbs-control: changes the faults of a running job, or shows what has been counted. The
/// environment of the job names its control file and its fabric.
///
///     soft-verbs-control cut [all|answers]     packets of reliable connections do not arrive, or
///                                              none does, or only those that answer
///     soft-verbs-control heal                  they arrive again
///     soft-verbs-control port down|up [DEVICE[:PORT]...]    default: all
///     soft-verbs-control die DEVICE
///     soft-verbs-control faults LIST           as in SOFT_VERBS_FAULTS
///     soft-verbs-control count [NAME]

#include <dirent.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/soft-verbs/control.hpp"
#include "tests/soft-verbs/packet.hpp"

namespace {

using namespace soft_verbs;

/// All contexts of this fabric, by the kernel's list, are to look at the file.
void wake_all() {
  std::ifstream list("/proc/net/unix");
  const std::string prefix = "@" + socket_prefix();
  for (std::string line; std::getline(list, line);) {
    const std::size_t at = line.find(prefix);
    if (at == std::string::npos) continue;
    const std::string name = line.substr(at + 1);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (name.size() >= sizeof address.sun_path) continue;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    Packet look;
    look.kind = Kind::look;
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), bytes) == 0)
      (void)!::send(fd, &look, sizeof look, MSG_NOSIGNAL);
    close(fd);
  }
}

/// The bits of a device's ports, or of one of them.  False: there is no such port.
bool find_ports(std::string_view name, std::uint64_t& ports, std::uint64_t& device) {
  const char* setting = std::getenv("SOFT_VERBS_DEVICES");
  std::string_view list = setting != nullptr ? setting : kDefaultDevices;
  const std::string_view wanted = name.substr(0, name.find(':'));
  DeviceDescription found;
  for (unsigned at = 0; !list.empty() && next_device(list, found); ++at) {
    if (!wanted.empty() && found.name != wanted) continue;
    for (unsigned port = 1; port <= found.ports; ++port)
      if (wanted.size() == name.size() || name.substr(wanted.size() + 1) == std::to_string(port))
        ports |= 1ULL << (Control::kPortsPerDevice * at + port - 1);
    device |= 1ULL << at;
  }
  return ports != 0;
}

int change_ports(Control& control, int argc, char** argv) {
  const std::string_view how = argc > 2 ? argv[2] : "";
  std::uint64_t ports = 0;
  std::uint64_t device = 0;
  bool found = true;
  if (argc == 3) found = find_ports("", ports, device);
  for (int i = 3; i < argc && found; ++i) {
    std::uint64_t named = 0;
    found = find_ports(argv[i], named, device);
    ports |= named;
  }
  if (!found || (how != "down" && how != "up")) return 2;
  if (how == "down")
    control.ports_down |= ports;
  else
    control.ports_down &= ~ports;
  wake_all();
  return 0;
}

int die(Control& control, const char* name) {
  std::uint64_t ports = 0;
  std::uint64_t device = 0;
  if (!find_ports(name, ports, device)) return 2;
  control.dead |= device;
  wake_all();
  return 0;
}

int cut(Control& control, std::string_view what) {
  if (what.empty())
    control.cut = kCutRequests | kCutAnswers;
  else if (what == "answers")
    control.cut = kCutAnswers;
  else if (what == "all")
    control.cut = kCutRequests | kCutAnswers | kCutDatagrams;
  else
    return 2;
  return 0;
}

int show(const Control& control, std::string_view name) {
  bool found = false;
  for (std::uint32_t i = 0; i < kCounters; ++i) {
    const char* const own = name_of(static_cast<Counter>(i));
    if (!name.empty() && name != own) continue;
    found = true;
    if (name.empty()) std::printf("%s ", own);
    std::printf("%lu\n", static_cast<unsigned long>(control.counters[i].load()));
  }
  return found ? 0 : 2;
}

int run(Control& control, int argc, char** argv) {
  const std::string_view what = argv[1];
  const char* const next = argc > 2 ? argv[2] : "";
  std::string problem;
  if (what == "cut") return cut(control, next);
  if (what == "heal") {
    control.cut = 0;
    return 0;
  }
  if (what == "port") return change_ports(control, argc, argv);
  if (what == "die") return die(control, next);
  if (what == "count") return show(control, next);
  if (what != "faults") return 2;
  if (apply_faults(control, next, problem)) return 0;
  std::fprintf(stderr, "soft-verbs-control: %s\n", problem.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* file = std::getenv("SOFT_VERBS_CONTROL");
  if (argc < 2 || file == nullptr || *file == '\0') {
    std::fprintf(stderr, "soft-verbs-control: no command, or SOFT_VERBS_CONTROL is not set\n");
    return 2;
  }
  soft_verbs::Control* const control = open_control(file);
  if (control == nullptr) {
    std::fprintf(stderr, "soft-verbs-control: cannot open %s: %s\n", file, std::strerror(errno));
    return 1;
  }
  const int status = run(*control, argc, argv);
  if (status == 2) std::fprintf(stderr, "soft-verbs-control: no such command or name\n");
  return status;
}
