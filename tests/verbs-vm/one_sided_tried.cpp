/// @file
/// Path auto between hosts, on RDMA devices: short blocks go by RDMA or by message, whichever has
/// been faster. Process 1 polls every 2 ms, so that it answers messages much later than its device
/// answers RDMA: blocks of 64 bytes go by RDMA once both ways have been tried. Words never do.

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

#include "tests/verbs-vm/one_sided_check.hpp"
#include "viaduct/splitc.hpp"

using namespace viaduct::splitc;
using viaduct::splitc_test::accesses;
using viaduct::splitc_test::expect;
using viaduct::splitc_test::g_failures;

int splitc_main(int, char**) {
  constexpr std::size_t kBytes = 64;
  constexpr int kTrial = 64;    // transfers (runtime/way_trial.hpp)
  constexpr int kBehind = 500;  // fewer than go the faster way behind a trial
  auto* const area = all_malloc<std::uint8_t>(kBytes);
  auto* const ended = all_malloc<std::int64_t>(1);
  barrier();
  if (MYPROC == 1) {
    while (*ended == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      viaduct::splitc::poll();
    }
    return 0;  // it expects nothing
  }
  const auto there = toglobal(1, area);
  std::uint8_t own[kBytes] = {};
  const auto transfers = [&](int count, bool reads) {
    const std::uint64_t before = accesses("one_sided");
    for (int i = 0; i < count; ++i) {
      if (reads)
        bulk_read(own, there, kBytes);
      else
        bulk_write(there, own, kBytes);
    }
    return accesses("one_sided") - before;
  };
  constexpr int kFew = 50;  // blocks of a chunk, which do not make the owner register it
  expect(transfers(kFew, true) == 0 && accesses("chunks") == 0, "few go by message");
  for (const bool reads : {true, false}) {
    const std::string what = reads ? "reads" : "writes";
    int before_trial = 0;  // the owner is asked for its chunk, and answers
    constexpr int kMost = 1000;
    while (transfers(1, reads) == 0 && before_trial < kMost) ++before_trial;
    const std::uint64_t in_trial = transfers(kTrial, reads);
    expect(in_trial != 0 && in_trial < kTrial, what + ": both ways are tried");
    expect(transfers(kBehind, reads) == kBehind, what + ": the faster way is taken");
  }
  // Of calls that do not wait the times are not known. They take the way of those that do.
  std::uint64_t before = accesses("one_sided");
  for (int i = 0; i < kBehind; ++i) {
    (void)bulk_get(own, there, kBytes);
    (void)bulk_put(there, own, kBytes);
    viaduct::splitc::sync();
  }
  expect(accesses("one_sided") - before == 2 * kBehind, "gets and puts take it, too");
  before = accesses("one_sided");
  const global_ptr<std::uint64_t> word(there);
  (void)read(word);
  expect(accesses("one_sided") == before, "words go by message");
  for (std::uint64_t i = 1; i <= kFew; ++i) {
    store(word, i);
    bulk_read(own, there, kBytes);
    expect(std::memcmp(own, &i, sizeof i) == 0, "a block is read behind an earlier store");
  }
  write(toglobal(1, ended), std::int64_t{1});
  return g_failures == 0 ? 0 : 1;
}
