// Runs a program in which the named system calls fail with EPERM, as a strict seccomp profile has
// it.
//
//   without_syscalls NAME[,NAME...] PROGRAM [ARGUMENTS]

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

const std::map<std::string, unsigned> kCalls{{"pidfd_open", SYS_pidfd_open},
                                             {"membarrier", SYS_membarrier},
                                             {"process_vm_readv", SYS_process_vm_readv},
                                             {"process_vm_writev", SYS_process_vm_writev},
                                             {"userfaultfd", SYS_userfaultfd},
                                             {"getdents64", SYS_getdents64},
                                             {"close_range", SYS_close_range},
                                             {"memfd_create", SYS_memfd_create},
                                             {"socketpair", SYS_socketpair},
                                             {"epoll_create1", SYS_epoll_create1},
                                             {"epoll_ctl", SYS_epoll_ctl},
                                             {"signalfd4", SYS_signalfd4},
                                             {"eventfd2", SYS_eventfd2},
                                             {"pipe2", SYS_pipe2},
                                             {"getrandom", SYS_getrandom},
                                             {"prctl", SYS_prctl},
                                             {"setsid", SYS_setsid},
                                             {"sched_getaffinity", SYS_sched_getaffinity},
                                             {"sched_setaffinity", SYS_sched_setaffinity},
                                             {"prlimit64", SYS_prlimit64},
                                             {"fallocate", SYS_fallocate},
                                             {"ftruncate", SYS_ftruncate},
                                             {"statfs", SYS_statfs},
                                             {"uname", SYS_uname},
                                             {"chdir", SYS_chdir},
                                             {"sendmsg", SYS_sendmsg},
                                             {"recvmsg", SYS_recvmsg},
                                             {"pidfd_send_signal", SYS_pidfd_send_signal},
                                             {"kill", SYS_kill},
                                             {"sysinfo", SYS_sysinfo},
                                             {"clock_nanosleep", SYS_clock_nanosleep}};

sock_filter statement(unsigned code, unsigned operand) {
  return {static_cast<__u16>(code), 0, 0, operand};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 98;
  std::vector<sock_filter> program{statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  std::istringstream names(argv[1]);
  for (std::string name; std::getline(names, name, ',');) {
    if (kCalls.count(name) == 0) return 98;
    program.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, kCalls.at(name)});
    program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    std::perror("seccomp");
    return 77;
  }
  ::execvp(argv[2], argv + 2);
  std::perror(argv[2]);
  return 98;
}
