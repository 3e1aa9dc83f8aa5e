#include "runtime/src/environment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "runtime/errors/codes.hpp"
#include "runtime/src/job_size_check.hpp"
#include "runtime/src/launch_variables.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

/// The number in an environment variable, or @p otherwise when it is unset or no number.
std::uint32_t number_or(const char* variable, std::uint32_t otherwise) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  std::uint32_t number = 0;
  const char* const end = text + std::strlen(text);
  const auto result = std::from_chars(text, end, number);
  return result.ec == std::errc{} && result.ptr == end ? number : otherwise;
}

std::uint32_t launch_number(const char* variable, std::uint32_t limit) {
  constexpr std::uint32_t kAbsent = 0xffffffff;
  const std::uint32_t number = number_or(variable, kAbsent);
  if (number < limit) return number;
  const char* const text = std::getenv(variable);
  throw Error(errors::not_from_launcher, std::errc::invalid_argument,
              fmt::format("{}={} is not what viaduct-run sets (a number below {}): start the "
                          "program with viaduct-run, "
                          "or unset the VIADUCT_JOB_ID that it inherited",
                          variable, text != nullptr ? text : "(unset)", limit));
}

int launch_descriptor(const char* variable) {
  constexpr std::uint32_t kDescriptors = 1U << 30U;
  const int fd = static_cast<int>(launch_number(variable, kDescriptors));
  // Programs that this rank executes later do not inherit the descriptor.
  if (::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0) return fd;
  throw Error(
      errors::not_from_launcher, std::errc::bad_file_descriptor,
      fmt::format("{}={} is not open: this process was started by a rank of a job but is not that "
                  "rank; start "
                  "it with viaduct-run, or unset VIADUCT_JOB_ID to make it a job of its own",
                  variable, fd));
}

int launch_socket() {
  const int fd = launch_descriptor(launch::kSocket);
  int type = 0;
  socklen_t bytes = sizeof type;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_SEQPACKET)
    return fd;
  throw Error(errors::not_from_launcher, std::errc::not_a_socket,
              fmt::format("{}={} is not the socket to viaduct-run: this process was started by a "
                          "rank of a job but is "
                          "not that rank; unset VIADUCT_JOB_ID to make it a job of its own",
                          launch::kSocket, fd));
}

Launch launched() {
  Launch launch;
  launch.size = launch_number(launch::kSize, std::numeric_limits<std::uint32_t>::max());
  check_job_size(launch.size);
  if (launch.size == 0) launch.size = launch_number(launch::kSize, 0);  // throws the error
  const char* const mode = std::getenv(launch::kMode);
  const bool threads = mode != nullptr && std::string_view(mode) == "threads";
  launch.mode = threads ? Launch::Mode::threads : Launch::Mode::processes;
  launch.page = launch_descriptor(launch::kPage);
  if (!threads) {
    launch.rank = launch_number(launch::kRank, launch.size);
    launch.socket = launch_socket();
  }
  launch.cores = number_or(launch::kCores, 0);
  launch.bound = number_or(launch::kBound, 0) != 0;
  launch.keep_going = number_or(launch::kKeepGoing, 0) != 0;
  return launch;
}

/// A parallel environment that this build cannot join: its variable, and the remedy.
struct Foreign {
  const char* variable;
  const char* remedy;
};
std::optional<Foreign> foreign_environment() {
  if (std::getenv("PMI_RANK") != nullptr)
    return Foreign{"PMI_RANK", "it speaks PMI-1 or PMI-2, and Viaduct PMIx"};
  if (number_or("OMPI_COMM_WORLD_SIZE", 0) > 1)
    return Foreign{"OMPI_COMM_WORLD_SIZE", "it should have set PMIX_NAMESPACE, and has not"};
  // SLURM_JOB_ID alone is a batch shell, not a parallel step.
  if (std::getenv("SLURM_STEP_ID") != nullptr && number_or("SLURM_NTASKS", 0) > 1)
    return Foreign{"SLURM_STEP_ID", "start it with srun --mpi=pmix"};
  return std::nullopt;
}

/// VIADUCT_RANK or VIADUCT_SIZE alone are a rendezvous whose address has got lost. Where
/// viaduct-run or a rendezvous has set VIADUCT_MODE as well, a rank has started this process, and
/// VIADUCT_JOB_ID was unset to make it a job of its own. A size of 1 says what happens anyway.
void refuse_half_rendezvous() {
  const char* const rank = std::getenv(launch::kRank);
  const char* const size = std::getenv(launch::kSize);
  if ((rank == nullptr && size == nullptr) || std::getenv(launch::kMode) != nullptr) return;
  if (size != nullptr && std::string_view(size) == "1") return;
  const char* const variable = rank != nullptr ? launch::kRank : launch::kSize;
  throw Error(
      errors::rendezvous_setting, std::errc::invalid_argument,
      fmt::format("{}={} is set and {} is not, and going on alone would silently make many jobs of "
                  "one rank: set {}=tcp://HOST:PORT, start the program with viaduct-run -n N "
                  "PROGRAM, or unset VIADUCT_RANK and VIADUCT_SIZE for a job of one rank",
                  variable, rank != nullptr ? rank : size, launch::kRendezvous,
                  launch::kRendezvous));
}

}  // namespace

Launch detect_launch() {
  Launch launch;
  if (std::getenv(launch::kJobId) != nullptr) return launched();
  if (std::getenv(launch::kRendezvous) != nullptr) {
    launch.mode = Launch::Mode::rendezvous;
  } else if (std::getenv("PMIX_NAMESPACE") != nullptr) {
    launch.mode = Launch::Mode::pmix;
  } else if (const auto foreign = foreign_environment(); foreign) {
    throw Error(
        errors::no_launcher, std::errc::not_supported,
        fmt::format(
            "{}={} shows a parallel environment that this build cannot join ({}), and going on "
            "alone would silently make many jobs of one rank: start it with viaduct-run -n N "
            "PROGRAM, or unset {} for a job of one rank",
            foreign->variable, std::getenv(foreign->variable), foreign->remedy, foreign->variable));
  } else {
    refuse_half_rendezvous();
  }
  return launch;
}

}  // namespace viaduct
