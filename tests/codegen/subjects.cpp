// The hot path of Active Messages as a user's program gets it: a short typed request, a short
// reply, and a poll.

#include "tests/codegen/seed.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/am/token.hpp"

namespace {

namespace am = viaduct::am;

void on_pong(am::Token&, long) {}
void on_ping(am::Token& token, long value) { token.reply<on_pong>(value); }

}  // namespace

extern "C" {

viaduct::Status viaduct_codegen_request(am::Endpoint& endpoint, am::Index to, long value) {
  viaduct::codegen::seed();
  return endpoint.request<on_ping>(to, value);
}

void viaduct_codegen_reply(am::Token& token, long value) {
  viaduct::codegen::seed();
  token.reply<on_pong>(value);
}

std::uint32_t viaduct_codegen_poll(am::Bundle& bundle) {
  viaduct::codegen::seed();
  return bundle.poll();
}
}
