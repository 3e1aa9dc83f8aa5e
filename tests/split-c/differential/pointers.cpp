// Where spread and global pointers lead, element by element. Process 0 prints.
#include <viaduct/splitc.hpp>

#include <cstdio>

using namespace splitc;

struct Twelve {
  char c[12];
};

static unsigned long state = 12345;
static int next(int limit) {
  state = state * 6364136223846793005UL + 1442695040888963407UL;
  return static_cast<int>((state >> 33) % static_cast<unsigned long>(limit));
}

int splitc_main(int, char**) {
  const auto base = all_spread_malloc<Twelve>(static_cast<std::size_t>(100 * PROCS));
  const auto* first = reinterpret_cast<char*>(tolocal(base));
  const auto middle = base + 50 * PROCS;
  if (MYPROC == 0) {
    auto p = middle;
    for (int i = 0; i < 400; ++i) {
      const int step = next(6 * PROCS + 1) - 3 * PROCS;
      switch (next(5)) {
        case 0:
          p += step;
          break;
        case 1:
          p -= step;
          break;
        case 2:
          ++p;
          break;
        case 3:
          --p;
          break;
        default:
          p = step + p;
      }
      const auto offset = [&](auto q) {
        return static_cast<long>(reinterpret_cast<char*>(tolocal(q)) - first);
      };
      std::printf("%d: process %d, offset %ld, distance %ld, order %d%d\n", i, toproc(p), offset(p),
                  static_cast<long>(p - base), p < middle, p == middle);
      const global_ptr<Twelve> g = global_ptr<Twelve>(p) + step;
      std::printf("  process %d, offset %ld, distance %ld\n", toproc(g), offset(g),
                  static_cast<long>(g - global_ptr<Twelve>(p)));
      if (p - base < 10 * PROCS || p - base > 90 * PROCS) p = middle;
    }
  }
  barrier();
  all_spread_free(base);
  return 0;
}
