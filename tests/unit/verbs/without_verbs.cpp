/// @file
/// Two ranks of a build without provider verbs: Active Messages work, and who asks for verbs is
/// told what is missing.

#include <cstdio>
#include <string>

#include "via/verbs/provider.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/via/nic.hpp"

namespace {

using namespace viaduct;

thread_local int t_replies = 0;
void on_reply(am::Token&) { ++t_replies; }
void on_request(am::Token& token) { token.reply<on_reply>(); }

bool expect(bool passed, const char* what) {
  if (!passed) std::printf("not so: %s\n", what);
  return passed;
}

bool names_what_is_missing(const std::string& text) {
  return text.find("without provider verbs") != std::string::npos &&
         text.find("libibverbs-dev") != std::string::npos;
}

template <class Call>
bool throws_the_sentence(Call&& call) {
  try {
    call();
  } catch (const Error& e) {
    return names_what_is_missing(e.what());
  }
  return false;
}

int body(Job& job, int, char**) {
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  const am::Index other{1 - index(job.rank())};
  bool good =
      expect(endpoint.map(other, {Rank{value(other)}, 0}, am::kTagAll) == Status::ok, "map");
  job.bootstrap().fence();
  good &= expect(endpoint.request<on_request>(other) == Status::ok, "a request is taken");
  good &= expect(bundle.wait_until([] { return t_replies == 1; }, 20'000'000'000) == Status::ok,
                 "it is answered");
  good &= expect(bundle.barrier() == Status::ok, "both have their answers");
  const auto found = via::verbs::find_ports();
  good &= expect(found.ports.empty() && found.chosen < 0 && names_what_is_missing(found.problem),
                 "no ports are found, and why is said");
  good &= expect(throws_the_sentence([&] { (void)via::open_nic(job, "verbs"); }),
                 "a NIC is refused with the sentence");
  good &= expect(throws_the_sentence([&] { (void)via::verbs::open_transport(job); }),
                 "a transport, too");
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
