// Finds a rank's number and the address of its job's hub.

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/errors/codes.hpp"
#include "runtime/job_size.hpp"
#include "runtime/src/control_group.hpp"
#include "runtime/src/handshake.hpp"
#include "runtime/src/job_size_check.hpp"
#include "runtime/src/join.hpp"
#include "runtime/src/launch_variables.hpp"
#include "runtime/src/secret.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

constexpr std::uint32_t kAnyNumber = std::numeric_limits<std::uint32_t>::max();
constexpr const char* kPmixKey = "viaduct.hub";

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(errors::rendezvous_setting, std::errc::invalid_argument, sentence);
}

/// Whether a rank other than 0 leaves it to rank 0 to say how many ranks there are.
bool leaves_size_open() {
  const char* const rank = std::getenv(launch::kRank);
  return std::getenv(launch::kSize) == nullptr && rank != nullptr && std::string_view(rank) != "0";
}

/// The variables that this process lacks: only rank 0 needs the number of ranks.
void refuse_missing_variables() {
  const bool has_rank = std::getenv(launch::kRank) != nullptr;
  const bool has_size = std::getenv(launch::kSize) != nullptr || leaves_size_open();
  if (has_rank && has_size) return;
  refuse(fmt::format(
      "{} is set and {} is not: each process of a rendezvous needs {}, its number, and "
      "VIADUCT_JOB_SECRET (or VIADUCT_JOB_SECRET_FILE); rank 0 needs {}, the number of ranks, too",
      launch::kRendezvous, has_rank ? launch::kSize : launch::kRank, launch::kRank, launch::kSize));
}

std::uint32_t rendezvous_number(const char* variable, std::uint32_t least, std::uint32_t most) {
  const char* const text = std::getenv(variable);
  std::uint32_t number = 0;
  const char* const end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, number);
  if (read.ec != std::errc{} || read.ptr != end || number < least || number > most)
    refuse(fmt::format("{}={} is not accepted: a whole number from {} to {}", variable, text, least,
                       std::min(most, kMaxJobSize)));
  return number;
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

/// What is no regular file may have no end, or none that comes. Users who can read the secret can
/// come as ranks of the job, and users who can write it can choose it.
void refuse_unsafe_file(const char* path) {
  struct stat status {};
  if (::stat(path, &status) != 0) return;  // read_secret() tells the system's reason
  if (!S_ISREG(status.st_mode))
    refuse(
        fmt::format("{}={} is not a regular file but {}: write the secret into a file, for "
                    "example by `openssl rand -hex 32`, and chmod 600 that file",
                    launch::kSecretFile, path, kind_of(status.st_mode)));
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    refuse(
        fmt::format("{}={} belongs to another user (number {}, and this process runs as number "
                    "{}), and the job's secret is for its owner alone: chown {} {}, or name a "
                    "file of your own",
                    launch::kSecretFile, path, status.st_uid, ::geteuid(), ::geteuid(), path));
  if ((status.st_mode & (S_IRGRP | S_IROTH | S_IWGRP | S_IWOTH)) != 0)
    refuse(
        fmt::format("{}={} can be read or written by others (its mode is {:03o}), and the job's "
                    "secret is for its owner alone: chmod 600 {}",
                    launch::kSecretFile, path, status.st_mode & 0777U, path));
}

std::string read_secret() {
  const char* const given = std::getenv(launch::kSecret);
  const char* const path = std::getenv(launch::kSecretFile);
  if (given == nullptr && path == nullptr)
    refuse(
        fmt::format("{} is set and {} is not: give all processes of the job the same {}, of at "
                    "least {} characters, or name a file that holds it by {}",
                    launch::kRendezvous, launch::kSecret, launch::kSecret, kMinSecretBytes,
                    launch::kSecretFile));
  std::string secret = given != nullptr ? given : "";
  if (given == nullptr) {
    refuse_unsafe_file(path);
    const auto text = read_small_file(path);
    if (!text)
      throw_errno(errors::rendezvous_setting,
                  fmt::format("cannot read {}={}", launch::kSecretFile, path));
    secret = text->substr(0, text->find_last_not_of(" \t\r\n") + 1);
  }
  if (secret.size() < kMinSecretBytes)
    refuse(
        fmt::format("the job's secret has {} characters, and fewer than {} could be guessed: "
                    "take a longer one, for example of `openssl rand -hex 32`",
                    secret.size(), kMinSecretBytes));
  return secret;
}

}  // namespace

Rendezvous rendezvous_by_address(std::chrono::nanoseconds limit) {
  Rendezvous rendezvous;
  rendezvous.limit = limit;
  refuse_missing_variables();
  if (leaves_size_open()) {
    rendezvous.size = handshake::kAskRankZero;
    rendezvous.rank = rendezvous_number(launch::kRank, 0, kMaxJobSize - 1);
  } else {
    rendezvous.size = rendezvous_number(launch::kSize, 1, kAnyNumber);
    check_job_size(rendezvous.size);
    rendezvous.rank = rendezvous_number(launch::kRank, 0, rendezvous.size - 1);
  }
  rendezvous.secret = read_secret();
  rendezvous.shown = std::getenv(launch::kRendezvous);
  const auto address = parse_address(rendezvous.shown);
  if (!address || address->port == "0")
    refuse(
        fmt::format("{}={} is not accepted: tcp://HOST:PORT, an address of the host that rank 0 "
                    "runs on",
                    launch::kRendezvous, rendezvous.shown));
  rendezvous.addresses.push_back(*address);
  if (rendezvous.rank == 0 && rendezvous.size > 1) rendezvous.listener = listen_at(*address);
  return rendezvous;
}

Rendezvous rendezvous_by_pmix(Pmix& pmix, std::chrono::nanoseconds limit) {
  Rendezvous rendezvous;
  rendezvous.limit = limit;
  rendezvous.rank = pmix.rank();
  rendezvous.size = pmix.size();
  check_job_size(rendezvous.size);
  if (rendezvous.size == 1) return rendezvous;
  if (rendezvous.rank == 0) {
    const bool one_node = pmix.local_size() == pmix.size();
    rendezvous.listener = listen_anywhere(one_node);
    std::string list;
    for (const std::string& each : own_addresses(port_of(rendezvous.listener.get()), one_node))
      list += (list.empty() ? "" : ",") + each;
    pmix.publish(kPmixKey, list + " " + new_secret());
  }
  const auto told = pmix.fetch(0, kPmixKey, limit);
  if (!told)
    throw Error(errors::job_not_begun, std::errc::timed_out,
                fmt::format("rank {} of {}: rank 0 has not come within {} s "
                            "(VIADUCT_JOIN_TIMEOUT)",
                            rendezvous.rank, rendezvous.size,
                            std::chrono::duration<double>(limit).count()));
  const std::size_t space = told->find(' ');
  rendezvous.shown = told->substr(0, space);
  rendezvous.addresses = parse_addresses(rendezvous.shown);
  rendezvous.secret = space == std::string::npos ? "" : told->substr(space + 1);
  return rendezvous;
}

}  // namespace viaduct
