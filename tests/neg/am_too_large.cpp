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

struct Large {
  char bytes[128];
};
struct TooLarge {
  char bytes[129];
};
void on_large(am::Token&, Large);
void on_too_large(am::Token&, TooLarge);

viaduct::Status send(am::Endpoint& endpoint, am::Index to, std::span<int> ints,
                     std::span<double> doubles) {
  (void)ints;
  (void)doubles;
#ifdef VIADUCT_NEGATIVE
  return endpoint.request<on_too_large>(to, TooLarge{});
#else
  return endpoint.request<on_large>(to, Large{});
#endif
}
