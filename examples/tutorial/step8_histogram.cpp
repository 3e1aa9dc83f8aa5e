// Step 8: updates that meet. Many processes change the same elements of a spread array: by an
// atomic operation that answers the old value, and by a function that runs at the element's owner.
//
//     viaduct-run -n 4 build/release/examples/step8_histogram

#include <cstdint>
#include <cstdio>

#include <viaduct/splitc.hpp>

using namespace splitc;

void raise_to(std::int64_t* most, std::int64_t value) {  // at the owner, most is a plain pointer
  if (value > *most) *most = value;
}

int splitc_main(int, char**) {
  constexpr std::int64_t kBins = 16;
  constexpr std::int64_t kValues = 10'000;
  const auto count = all_spread_malloc<std::int64_t>(kBins);
  const auto most = all_spread_malloc<std::int64_t>(kBins);
  for (std::int64_t i = MYPROC; i < kBins; i += PROCS) count[i] = most[i] = 0;
  barrier();
  for (std::int64_t i = MYPROC; i < kValues; i += PROCS) {
    const std::int64_t bin = i * 7919 % kBins;
    fetch_add(count + bin, 1);
    atomic_put<raise_to>(most + bin, i);  // no wait before sync()
  }
  splitc::sync();
  barrier();
  std::int64_t all = 0;
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < kBins; ++i) {
    all += count[i];
    last = most[i] > last ? std::int64_t{most[i]} : last;
  }
  if (MYPROC == 0)
    std::printf("%lld values, the last is %lld\n", static_cast<long long>(all),
                static_cast<long long>(last));
  return all == kValues && last == kValues - 1 ? 0 : 1;
}
