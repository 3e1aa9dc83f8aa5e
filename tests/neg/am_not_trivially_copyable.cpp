#include <string>

#include "viaduct/am/endpoint.hpp"

namespace am = viaduct::am;

struct Trivial {
  int a;
};
struct NotTrivial {
  std::string a;
};
void on_trivial(am::Token&, Trivial);
void on_not_trivial(am::Token&, NotTrivial);

viaduct::Status send(am::Endpoint& endpoint, am::Index to) {
#ifdef VIADUCT_NEGATIVE
  return endpoint.request<on_not_trivial>(to, NotTrivial{});
#else
  return endpoint.request<on_trivial>(to, Trivial{});
#endif
}
