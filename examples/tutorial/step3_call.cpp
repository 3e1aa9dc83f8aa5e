// Step 3: a call. A call answers the result of the handler at the other rank. The handler reaches
// an object of that rank through the token.
//
//     viaduct-run -n 4 build/release/examples/step3_call

#include <cstdio>

#include <viaduct/am.hpp>
#include <viaduct/job.hpp>

namespace am = viaduct::am;

struct Account {
  long balance = 100;
};

long withdraw(am::Token& token, long amount) {
  auto& account = token.state<Account>();
  if (account.balance < amount) return -1;
  account.balance -= amount;
  return account.balance;
}

int body(viaduct::Job& job, int, char**) {
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  Account account;
  endpoint.set_state(account);
  endpoint.map_all();
  // Every rank takes 30 from the account of rank 0: handlers run one at a time, so no lock is
  // needed.
  const auto answer = endpoint.call<withdraw>(am::Index{0}, 30L).wait();
  if (!answer.has_value()) return 1;
  std::printf("rank %u: %ld are left\n", index(job.rank()), answer.value());
  if (bundle.barrier() != viaduct::Status::ok) return 1;
  const long taken = job.size() < 3 ? 30L * job.size() : 90;
  return job.rank() == viaduct::Rank{0} && account.balance != 100 - taken ? 1 : 0;
}

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
