// Step 5: a message that cannot be delivered. The message comes back to its sender, to the
// endpoint's handler for such messages, with the reason.
//
//     viaduct-run -n 4 build/release/examples/step5_returned

#include <cstdio>

#include <viaduct/am.hpp>
#include <viaduct/job.hpp>

namespace am = viaduct::am;

void on_number(am::Token&, int) {}

int body(viaduct::Job& job, int, char**) {
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  am::Undeliverable why = am::Undeliverable::none;
  endpoint.set_undeliverable_handler([&](const am::Returned& returned) { why = returned.status; });
  // Rank 0 has endpoint 0 and no endpoint 7: the translation is taken, the message comes back.
  const am::Index nobody{job.size()};
  endpoint.set_translations(job.size() + 1);
  if (endpoint.map(nobody, {viaduct::Rank{0}, 7}, am::kTagAll) != viaduct::Status::ok) return 1;
  if (endpoint.request<on_number>(nobody, 1) != viaduct::Status::ok) return 1;
  if (bundle.wait_until([&] { return why != am::Undeliverable::none; }) != viaduct::Status::ok)
    return 1;
  if (job.rank() == viaduct::Rank{0}) std::printf("it came back: %s\n", am::to_string(why));
  return bundle.barrier() == viaduct::Status::ok ? 0 : 1;
}

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
