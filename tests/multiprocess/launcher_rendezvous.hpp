#pragma once
/// @file
/// Jobs that meet by a rendezvous, for tests.

#include <gtest/gtest.h>
#include <unistd.h>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/src/link.hpp"
#include "tests/multiprocess/launcher_driver.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace driver {

constexpr const char* kSecret = "a secret of more than sixteen characters";

void expect_all_well(const std::vector<Result>& results);

struct Listener {
  int fd = -1;
  std::string address;
  ~Listener() {
    if (fd >= 0) ::close(fd);
  }
};

/// A socket on a free port of 127.0.0.1, listening or only taken.
Listener take_port(bool listening);
std::string free_address();

/// The ranks of one rendezvous, each to be started when the test wants it.
class Rendezvous {
 public:
  explicit Rendezvous(int size, Words verb, std::string limit = "20s")
      : size_(size), verb_(std::move(verb)), limit_(std::move(limit)) {}
  ~Rendezvous() {
    ranks_.clear();
    EXPECT_TRUE(driver::all_gone(tag_)) << "processes are left";
  }
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  /// Starts rank @p number on pretended host @p host.
  Program& start(int number, int host, const Environment& more = {}) {
    return start_as({}, number, host, more);
  }
  /// The same, and it does not know how many ranks there are.
  Program& start_without_size(int number, int host) {
    return start_as({"/usr/bin/env", "-u", "VIADUCT_SIZE"}, number, host, {});
  }

  /// All ranks, in blocks on @p hosts hosts.
  void start_all(int hosts) {
    for (int i = 0; i < size_; ++i) start(i, i * hosts / size_);
  }

  /// Waits until each rank has said @p text.
  [[nodiscard]] bool all_say(const std::string& text) {
    for (auto& rank : ranks_) {
      if (!rank->wait_for(text)) return false;
    }
    return true;
  }

  std::vector<Result> finish() {
    std::vector<Result> results;
    for (auto& rank : ranks_) results.push_back(rank->finish());
    return results;
  }

  [[nodiscard]] const std::string& tag() const { return tag_; }
  [[nodiscard]] const std::string& address() const { return address_; }
  void set_address(const std::string& address) { address_ = address; }

 private:
  Program& start_as(Words words, int number, int host, const Environment& more) {
    words.insert(words.end(), {driver::test_program("launcher_actor"), tag_});
    words.insert(words.end(), verb_.begin(), verb_.end());
    Environment environment{{"VIADUCT_RENDEZVOUS", address_},
                            {"VIADUCT_RANK", std::to_string(number)},
                            {"VIADUCT_SIZE", std::to_string(size_)},
                            {"VIADUCT_JOB_SECRET", kSecret},
                            {"VIADUCT_HOST_KEY", "host " + std::to_string(host)},
                            {"VIADUCT_JOIN_TIMEOUT", limit_}};
    environment.insert(environment.end(), more.begin(), more.end());
    ranks_.push_back(std::make_unique<Program>(words, environment));
    return *ranks_.back();
  }

  int size_;
  Words verb_;
  std::string limit_;
  std::string tag_ = driver::new_tag();
  std::string address_ = free_address();
  std::vector<std::unique_ptr<Program>> ranks_;
};

/// The agent (not the watchdog) among the processes with a tag.
pid_t agent_beside(const std::string& tag, const std::vector<pid_t>& known);

/// A connection to @p address, once somebody listens there.
viaduct::FileDescriptor call(const std::string& address);

/// Comes as rank @p rank by the handshake, and does nothing more.
viaduct::link::Link come_as(const Rendezvous& rendezvous, std::uint32_t rank, std::uint32_t size,
                            const std::string& host);

}  // namespace driver
