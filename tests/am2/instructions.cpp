// A short request and its reply at this process, so many times: through AM-2 in C, and through am/.
// Callgrind counts what each takes (tests/scripts/beside_cxx.sh). Written as C programs are, but for
// the other side. The connection is to the endpoint itself, so that the poll that each request of
// AM-2 makes finds the message each time; those of am/ find several at once.

#include <cstdio>
#include <cstdlib>

#include "am/c/am.h"
#include "am/c/underneath.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"

namespace am = viaduct::am;

namespace {

int answers = 0;

// In C.

void on_answer_in_c(void*, int value) { answers += value; }
void on_request_in_c(void* token, int value) { (void)AM_Reply1(token, 2, value); }

// In C++.

void on_answer(am::Token&, int value) { answers += value; }
void on_request(am::Token& token, int value) { token.reply<on_answer>(value); }

}  // namespace

// A round as both write it: send, and poll until the answer is here.

extern "C" [[gnu::noinline]] int viaduct_rounds_in_c(eb_t bundle, ep_t endpoint, int n) {
  answers = 0;
  for (int i = 0; i < n; ++i) {
    if (AM_Request1(endpoint, 0, 1, 1) != AM_OK) return -1;
    while (answers == i)
      if (AM_Poll(bundle) != AM_OK) return -1;
  }
  return answers;
}

extern "C" [[gnu::noinline]] int viaduct_rounds_in_cxx(am::Bundle& bundle, am::Endpoint& endpoint,
                                                       int n) {
  answers = 0;
  for (int i = 0; i < n; ++i) {
    if (endpoint.request<on_request>(am::Index{0}, 1) != viaduct::Status::ok) return -1;
    while (answers == i) bundle.poll();
  }
  return answers;
}

// Requests alone, in batches that the credits allow; the receiver takes them by its polls.

namespace {
int heard = 0;
void on_one_way_in_c(void*, int value) { heard += value; }
void on_one_way(am::Token&, int value) { heard += value; }
constexpr int kBatch = 8;
}  // namespace

extern "C" [[gnu::noinline]] int viaduct_flood_in_c(eb_t bundle, ep_t endpoint, int n) {
  heard = 0;
  for (int i = 0; i < n; i += kBatch) {
    for (int b = 0; b < kBatch; ++b)
      if (AM_Request1(endpoint, 0, 3, 1) != AM_OK) return -1;
    while (heard < i + kBatch)
      if (AM_Poll(bundle) != AM_OK) return -1;
  }
  return heard;
}

extern "C" [[gnu::noinline]] int viaduct_flood_in_cxx(am::Bundle& bundle, am::Endpoint& endpoint,
                                                      int n) {
  heard = 0;
  for (int i = 0; i < n; i += kBatch) {
    for (int b = 0; b < kBatch; ++b)
      if (endpoint.request<on_one_way>(am::Index{0}, 1) != viaduct::Status::ok) return -1;
    while (heard < i + kBatch) bundle.poll();
  }
  return heard;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 10000;
  eb_t eb = nullptr;
  ep_t ep = nullptr;
  en_t name;
  if (AM_Init() != AM_OK || AM_AllocateBundle(AM_SEQ, &eb) != AM_OK ||
      AM_AllocateEndpoint(eb, &ep, &name) != AM_OK || AM_SetTag(ep, AM_ALL) != AM_OK ||
      AM_Map(ep, 0, name, AM_ALL) != AM_OK)
    return 1;
  AM_SetHandler(ep, 1, reinterpret_cast<AM_Handler>(on_request_in_c));
  AM_SetHandler(ep, 2, reinterpret_cast<AM_Handler>(on_answer_in_c));
  AM_SetHandler(ep, 3, reinterpret_cast<AM_Handler>(on_one_way_in_c));
  bool right = viaduct_rounds_in_c(eb, ep, 1) == 1;  // connects
  right = right && viaduct_rounds_in_c(eb, ep, n) == n && viaduct_flood_in_c(eb, ep, n) == n;
  if (!right || AM_FreeBundle(eb) != AM_OK) return 1;
  {
    am::Bundle bundle(*am::c::underneath());
    bundle.set_poll_every(8);  // as often as the C interface polls for its connections
    am::Endpoint endpoint(bundle);
    right = endpoint.map(am::Index{0}, endpoint.name(), am::kTagAll) == viaduct::Status::ok;
    right = right && viaduct_rounds_in_cxx(bundle, endpoint, 1) == 1;
    right = right && viaduct_rounds_in_cxx(bundle, endpoint, n) == n &&
            viaduct_flood_in_cxx(bundle, endpoint, n) == n;
  }
  if (AM_Terminate() != AM_OK || !right) return 1;
  std::puts("right");
  return 0;
}
