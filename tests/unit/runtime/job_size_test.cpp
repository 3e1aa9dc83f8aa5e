// The limit on a job's processes: every way of starting a job checks it before anything is made.

#include "runtime/src/job_size_check.hpp"

#include <gtest/gtest.h>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "runtime/job_size.hpp"
#include "runtime/src/environment.hpp"
#include "runtime/src/join.hpp"
#include "runtime/src/launch_variables.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

std::string error_of(const std::function<void()>& start) {
  try {
    start();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

class JobSize : public testing::Test {
 protected:
  void set(const char* name, const std::string& value) {
    ::setenv(name, value.c_str(), 1);
    names_.push_back(name);
  }
  ~JobSize() override {
    for (const char* name : names_) ::unsetenv(name);
  }

 private:
  std::vector<const char*> names_;
};

constexpr std::uint64_t kOneTooMany = std::uint64_t{kMaxJobSize} + 1;
const std::string kSentence = "a job has at most 65536 processes, not 65537: ";

TEST_F(JobSize, TheLimitIsWhatAGlobalPointerCanName) {
  EXPECT_EQ(kMaxJobSize, 1U << 16);
  EXPECT_EQ(job_size_problem(1), "");
  EXPECT_EQ(job_size_problem(kMaxJobSize), "");
  const std::string problem = job_size_problem(kOneTooMany);
  EXPECT_EQ(problem.rfind(kSentence, 0), 0U) << problem;
  EXPECT_NE(problem.find("start fewer processes"), std::string::npos) << problem;
}

TEST_F(JobSize, ALaunchedRankChecksIt) {
  set(launch::kJobId, "pretended");
  set(launch::kRank, "65536");
  set(launch::kSize, std::to_string(kOneTooMany));
  const std::string error = error_of([] { (void)detect_launch(); });
  EXPECT_EQ(error.rfind(kSentence, 0), 0U) << error;
  EXPECT_NE(error.find("[VIA-0111]"), std::string::npos) << error;
}

TEST_F(JobSize, ARendezvousChecksIt) {
  set(launch::kRendezvous, "tcp://127.0.0.1:1");
  set(launch::kRank, "65536");
  set(launch::kSize, std::to_string(kOneTooMany));
  const std::string error =
      error_of([] { (void)rendezvous_by_address(std::chrono::milliseconds(1)); });
  EXPECT_EQ(error.rfind(kSentence, 0), 0U) << error;
}

}  // namespace
}  // namespace viaduct
