#pragma once
/// @file
/// The traffic of LogpMethod for Split-C: gets or puts of a word of 8 bytes, which the owner
/// answers by message.

#include <cstdint>
#include <stdexcept>

#include "viaduct/splitc.hpp"

namespace viaduct::bench {

enum class Access { get, put };

class SplitcTraffic {
 public:
  /// Both ranks construct, while the path is Path::message.  @p credits: requests to the other rank
  /// that may be under way.
  SplitcTraffic(Access access, std::uint32_t credits)
      : access_(access),
        credits_(credits),
        owned_(splitc::all_malloc<std::uint64_t>(kWords)),
        got_(splitc::all_malloc<std::uint64_t>(kWords)),
        ended_(splitc::all_malloc<std::uint64_t>(1)),
        theirs_(splitc::toglobal(1 - MYPROC, owned_)) {
    for (std::uint64_t i = 0; i < kWords; ++i) owned_[i] = value_at(i);
    *ended_ = 0;
    splitc::barrier();
  }
  SplitcTraffic(const SplitcTraffic&) = delete;
  SplitcTraffic& operator=(const SplitcTraffic&) = delete;

  void begin() {
    ++runs_;
    for (std::uint64_t i = 0; i < kWords; ++i) got_[i] = 0;
  }
  void send(std::uint64_t value) {
    const std::uint64_t at = value % kWords;
    const auto word = theirs_ + static_cast<std::int64_t>(at);
    last_ = access_ == Access::get ? splitc::get(got_ + at, word) : splitc::put(word, put_at(at));
  }
  void poll() { splitc::poll(); }
  /// Answers come in the order of the requests.
  void await(std::uint64_t /*count*/) {
    while (!splitc::is_done(last_)) {
    }
  }
  void end(std::uint64_t count) {
    for (std::uint64_t i = 0; i < kWords && i < count; ++i) {
      const bool right = access_ == Access::get
                             ? got_[i] == value_at(i)
                             : splitc::read(theirs_ + static_cast<std::int64_t>(i)) == put_at(i);
      if (!right) throw std::runtime_error("LogP's bursts of gets or puts moved a wrong word");
    }
    splitc::write(splitc::toglobal(1 - MYPROC, ended_), runs_);
  }
  /// The library serves gets and puts in polls, and the program does not see them: the other rank
  /// tells when the last one has ended.
  void serve(std::uint64_t /*count*/) {
    while (*static_cast<volatile std::uint64_t*>(ended_) != runs_) splitc::poll();
  }
  [[nodiscard]] std::uint32_t credits() const noexcept { return credits_; }

 private:
  static constexpr std::uint64_t kWords = 512;
  static std::uint64_t value_at(std::uint64_t i) noexcept { return ~i; }
  /// Another value in each run.
  [[nodiscard]] std::uint64_t put_at(std::uint64_t i) const noexcept { return runs_ << 32 | i; }

  Access access_;
  std::uint32_t credits_;
  std::uint64_t runs_ = 0;
  std::uint64_t* owned_;  // the words that the other rank gets or puts
  std::uint64_t* got_;
  std::uint64_t* ended_;  // the run that the other rank has ended
  splitc::global_ptr<std::uint64_t> theirs_;
  splitc::Handle last_{};
};

}  // namespace viaduct::bench
