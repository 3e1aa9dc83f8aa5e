// Machines that lack something: a job starts all the same, or one sentence says what is missing.

#include <gtest/gtest.h>
#include <csignal>
#include <string>
#include <vector>

#include "tests/multiprocess/launcher_driver.hpp"

namespace {

using driver::Program;
using driver::Result;

std::string job(const std::string& tag, const std::string& options, const std::string& verb) {
  return "exec " + driver::viaduct_run() + " " + options + " " +
         driver::test_program("launcher_actor") + " " + tag + " " + verb;
}

void expect_well_or_a_sentence(const Result& result, const std::string& what) {
  EXPECT_LT(result.seconds, driver::kHangSeconds) << what;
  EXPECT_TRUE(result.code == 0 || !result.err.empty()) << what << " ends with " << result.code;
  EXPECT_LT(result.code, 128) << what << " " << result.err;  // no signal
  EXPECT_LE(driver::count(result.err, "\n"), 6) << what << " " << result.err;
}

TEST(FewDescriptors, AreSaid) {
  for (int limit = 4; limit <= 48; limit += limit < 14 ? 1 : 4) {
    const std::string tag = driver::new_tag();
    const Result result =
        Program(
            {"/bin/sh", "-c", "ulimit -n " + std::to_string(limit) + "; " + job(tag, "-n 1", "ok")})
            .finish();
    expect_well_or_a_sentence(result, "ulimit -n " + std::to_string(limit));
    if (limit == 8) {
      EXPECT_TRUE(result.err.find("descriptor") != std::string::npos) << result.err;
    }
    EXPECT_TRUE(driver::all_gone(tag)) << limit;
  }
}

TEST(FewDescriptors, AreSaidOfHosts) {
  const std::string tag = driver::new_tag();
  const Result result =
      Program({"/bin/sh", "-c",
               "ulimit -n 44; " +
                   job(tag,
                       "--remote-command '/usr/bin/env VIADUCT_HOST_KEY={host} /bin/sh -c "
                       "{command}' --label --hosts a,b,c,d,e,f,g,h",
                       "ok")})
          .finish();
  EXPECT_EQ(result.code, 125) << result.err;
  EXPECT_TRUE(driver::has(result.err, "a job of 8 hosts needs 64 file descriptors")) << result.err;
  EXPECT_TRUE(driver::all_gone(tag));
}

/// A job in a mount namespace where @p hidden is an empty folder.
Result without(const std::string& hidden, const std::string& tag, const std::string& options,
               const std::string& verb) {
  return Program({"/usr/bin/unshare", "-m", "/bin/sh", "-c",
                  "mount -t tmpfs none " + hidden + " && " + job(tag, options, verb)})
      .finish();
}

TEST(WithoutProcOrSys, JobsStartAndEnd) {
  if (Program({"/usr/bin/unshare", "-m", "mount", "-t", "tmpfs", "none", "/proc"}).finish().code !=
      0)
    GTEST_SKIP() << "no mount namespaces here";
  for (const char* hidden : {"/proc", "/sys"}) {
    const std::string tag = driver::new_tag();
    for (const char* verb : {"ok", "around 20", "streams"}) {
      const Result result = without(hidden, tag, "-n 2", verb);
      EXPECT_EQ(result.code, 0) << hidden << " " << verb << ": " << result.err;
    }
    const Result failed = without(hidden, tag, "-n 2", "return 1 7");
    EXPECT_EQ(failed.code, 7) << failed.err;
    const Result limited = without(hidden, tag, "-n 2 --timeout 0.5", "hang-ignoring");
    EXPECT_EQ(limited.code, 124) << limited.err;
    EXPECT_TRUE(driver::all_gone(tag)) << hidden;
  }
}

TEST(DeniedSystemCalls, DoNotHangAJob) {
  for (const char* call : {"getdents64",
                           "close_range",
                           "close_range,getdents64",
                           "pidfd_open",
                           "pidfd_send_signal",
                           "memfd_create",
                           "socketpair",
                           "epoll_create1",
                           "epoll_ctl",
                           "signalfd4",
                           "eventfd2",
                           "pipe2",
                           "getrandom",
                           "prctl",
                           "setsid",
                           "sched_getaffinity",
                           "sched_setaffinity",
                           "prlimit64",
                           "fallocate",
                           "ftruncate",
                           "uname",
                           "chdir",
                           "sendmsg",
                           "recvmsg",
                           "sysinfo",
                           "clock_nanosleep",
                           "membarrier",
                           "process_vm_readv",
                           "userfaultfd",
                           "kill",
                           "statfs"}) {
    const std::string tag = driver::new_tag();
    const Result result =
        Program({driver::test_program("without_syscalls"), call, driver::viaduct_run(), "-n", "2",
                 "--label", driver::test_program("launcher_actor"), tag, "ok"})
            .finish();
    if (result.code == 77) GTEST_SKIP() << "seccomp filters are refused here";
    expect_well_or_a_sentence(result, call);
    EXPECT_TRUE(driver::all_gone(tag)) << call;
  }
}

}  // namespace
