#include <span>
#include <string>

#include "am/endpoint.hpp"

namespace am = viaduct::am;

struct Trivial {
  int a;
};
struct NotTrivial {
  std::string a;
};

void on_short(am::Token&, int, double);
void on_medium(am::Token&, std::span<const int>, int);
void on_bulk(am::Token&, std::span<int>, int);

viaduct::Status send(am::Endpoint& endpoint, am::Index to, std::span<int> ints,
                     std::span<double> doubles) {
  (void)ints;
  (void)doubles;
#ifdef VIADUCT_NEGATIVE
  return endpoint.request<on_short>(to, 1, 2.0, 3);
#else
  return endpoint.request<on_short>(to, 1, 2.0);
#endif
}
