#include "viaduct/am/endpoint.hpp"

namespace am = viaduct::am;

struct Large {
  char bytes[128];
};
struct TooLarge {
  char bytes[129];
};
void on_large(am::Token&, Large);
void on_too_large(am::Token&, TooLarge);

viaduct::Status send(am::Endpoint& endpoint, am::Index to) {
#ifdef VIADUCT_NEGATIVE
  return endpoint.request<on_too_large>(to, TooLarge{});
#else
  return endpoint.request<on_large>(to, Large{});
#endif
}
