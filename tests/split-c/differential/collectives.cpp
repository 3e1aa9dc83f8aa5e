// Every collective function; process 0 prints what all have got.
#include <viaduct/splitc.hpp>

#include <cstdint>
#include <cstdio>

using namespace splitc;

struct Row {
  double value[40];
};

int splitc_main(int, char**) {
  const auto results = all_spread_malloc<Row>(static_cast<std::size_t>(PROCS));
  int used = 0;
  const auto note = [&](auto x) { tolocal(results)->value[used++] = static_cast<double>(x); };

  const double d = 1.0 / (MYPROC + 3);
  const float f = 2.0F / static_cast<float>(MYPROC + 5);
  const int i = 17 * MYPROC - 3;
  const unsigned u = 3000000000U + static_cast<unsigned>(MYPROC);
  const long l = -4000000000L * (MYPROC + 1);
  note(all_reduce_add(i));
  note(all_reduce_mul(i));
  note(all_reduce_min(i));
  note(all_reduce_max(i));
  note(all_reduce_and(i));
  note(all_reduce_or(i));
  note(all_reduce_xor(i));
  note(all_reduce_add(u));
  note(all_reduce_max(u));
  note(all_reduce_add(l));
  note(all_reduce_min(l));
  note(all_reduce_add(f));
  note(all_reduce_max(f));
  note(all_reduce_add(d));
  note(all_reduce_mul(d));
  note(all_reduce_min(d));
  note(all_reduce_max(d));
  note(all_reduce_to_one_add(d));
  note(all_reduce_to_one_add(i));
  note(all_scan_add(i));
  note(all_scan_add(d));
  note(all_scan_max(d));
  note(all_bcast(i));
  note(all_bcast(d));
  note(all_bcast(l));
  const auto v = all_gather(i);
  const auto w = all_gather(d);
  std::uint32_t k = 0;
  for (int p = 0; p < PROCS; ++p)
    k = k * 31 + static_cast<std::uint32_t>(v[static_cast<std::size_t>(p)]);
  note(static_cast<std::int32_t>(k));
  note(w.back());
  barrier();
  if (MYPROC == 0)
    for (int p = 0; p < PROCS; ++p)
      for (int j = 0; j < used; ++j) {
        const double value = *toglobal(p, tolocal(results)->value + j);
        std::printf("%d %d %a\n", p, j, value);
      }
  barrier();
  all_spread_free(results);
  return 0;
}
