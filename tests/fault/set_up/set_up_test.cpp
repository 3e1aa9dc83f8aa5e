// Set-up with one failure at each of its calls in turn: allocations, file descriptors, mappings,
// threads, calls of a device's library. Each failure must end in an exception with a sentence, or
// be got around; no descriptor, mapping, registration or piece of the shared window may be left.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/sanitizers.hpp"
#include "runtime/src/launch_variables.hpp"
#include "runtime/src/page_mapping.hpp"
#include "splitc/detail/machine.hpp"
#include "tests/fault/set_up/devices.hpp"
#include "tests/fault/set_up/harness.hpp"
#include "via/registration_cache.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/via/completion_queue.hpp"
#include "viaduct/via/nic.hpp"
#include "viaduct/via/vi.hpp"

namespace {

using namespace viaduct;
using set_up::Family;
using set_up::is_done;
using set_up::try_family;

Job* g_job = nullptr;  // of the families that begin behind it

/// Bytes of the shared window that a NIC of shm keeps until its job ends: peers may still look at
/// them.
std::size_t g_kept = 1;

/// A job of one rank, which has been through @p attempt once: what is made once in a process is
/// there then.
std::function<void()> with_job(std::function<void()> attempt) {
  return [attempt = std::move(attempt)] {
    g_job = new Job;
    const std::size_t before = g_job->segment().allocated_bytes();
    (void)via::open_nic(*g_job, "shm");
    g_kept = g_job->segment().allocated_bytes() - before;
    attempt();
  };
}

std::vector<std::string> window_of_job() {
  return {"bytes of the shared window beside what NICs keep: " +
          std::to_string(g_job->segment().allocated_bytes() % g_kept)};
}

TEST(SetUp, Job) {
  Family family{"Job"};
  family.attempt = [] {
    const Job job;
    is_done();
  };
  family.prepare = family.attempt;
  try_family(family);
}

void set_up_messages(Job& job) {
  am::Context context(job);
  am::Bundle bundle(context);
  am::Bundle parallel(context, am::Bundle::Threads::parallel);
  am::Endpoint asker(bundle, am::kTagAll);
  am::Endpoint asked(parallel, am::kTagAll);
  std::vector<std::byte> memory(4096);
  asked.make_segment(65536);
  asker.set_segment(memory);
  if (asker.map(am::Index{0}, asked.name(), am::kTagAll) != Status::ok)
    throw std::runtime_error("map");
  job.bootstrap().fence();  // all ranks are as far
  is_done();
}

TEST(SetUp, ActiveMessages) {
  Family family{"Context, Bundle, Endpoint"};
  family.attempt = [] { set_up_messages(*g_job); };
  family.prepare = with_job(family.attempt);
  family.look = window_of_job;
  try_family(family);
}

void use_nic(const char* provider) {
  const auto nic = via::open_nic(*g_job, provider);
  const via::ProtectionTag tag = nic->create_tag();
  const auto queue = nic->create_completion_queue(16);
  std::vector<std::byte> own(4096);
  const via::MemoryRegion region =
      nic->register_memory(tag, own.data(), own.size(), via::Rights::rdma_read);
  struct Block {
    via::Nic& nic;
    std::byte* at;
    ~Block() { nic.release(at); }
  };
  const Block large{*nic, nic->allocate(1 << 17)};
  const Block small{*nic, nic->allocate(100)};
  const via::MemoryRegion shared =
      nic->register_memory(tag, large.at, 1 << 17, via::Rights::rdma_write);
  via::ViAttributes attributes;
  attributes.tag = tag;
  attributes.send_queue = attributes.receive_queue = queue.get();
  attributes.send_depth = attributes.receive_depth = 4;
  attributes.reliability = via::Reliability::delivery;
  const auto first = nic->create_vi(attributes);
  const auto second = nic->create_vi(attributes);
  is_done();
}

TEST(SetUp, NicOfSharedMemory) {
  Family family{"Nic of shm"};
  family.attempt = [] { use_nic("shm"); };
  family.prepare = with_job(family.attempt);
  family.look = window_of_job;
  try_family(family);
}

/// A completion queue that has found no thread for a notice takes the next one.
void ask_for_a_notice(const char* provider) {
  const auto nic = via::open_nic(*g_job, provider);
  const auto queue = nic->create_completion_queue(16);
  const auto ask = [&] {
    if (queue->notify([] {}) != Status::ok) throw std::logic_error("a notice is armed already");
  };
  try {
    ask();
  } catch (const std::system_error&) {
    ask();
  }
  is_done();
}

TEST(SetUp, NoticesOfQueues) {
  for (const char* provider : {"shm", "fault(shm)"}) {
    Family family{"notify() of " + std::string(provider)};
    family.attempt = [provider] { ask_for_a_notice(provider); };
    family.prepare = with_job(family.attempt);
    long attempts = 0;
    for (const std::string& wrong :
         set_up::try_all(family, set_up::injection_of("thread"), attempts))
      ADD_FAILURE() << wrong;
    EXPECT_GT(attempts, 1) << provider;
  }
}

TEST(SetUp, WatchOfMappings) {
  Family family{"what tells a registration cache of unmapped memory"};
  family.attempt = [] {
    (void)via::RegistrationCache::probe();
    is_done();
  };
  family.prepare = family.attempt;
  try_family(family);
}

Family nic_of_verbs() {
  Family family{"Nic of verbs"};
  family.attempt = [] { use_nic("verbs"); };
  family.prepare = [] {
    g_job = new Job;
    use_nic("verbs");
  };
  return family;
}

/// Whether this program's static data lies in shared memory.
bool has_moved() {
  std::ifstream maps("/proc/self/maps");
  const auto data = reinterpret_cast<std::uintptr_t>(&g_job);
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2 && begin <= data && data < end)
      return line.find("memfd:") != std::string::npos;
  }
  return false;
}

TEST(SetUp, SplitC) {
  Family family{"Split-C"};
  family.prepare = [] { g_job = new Job; };
  family.attempt = [] {
    const splitc::detail::Machine machine(*g_job);
    is_done();
  };
  family.look = window_of_job;
  family.once = true;
  // Static data that has been moved into shared memory stays there, and the region with it. Under a
  // sanitizer the test's own static data are not among those that move.
  const std::string base = kAddressSanitizer ? "0x400000000000" : "0x1000000000";
  family.stays = [base](const std::string& text) {
    return (kAddressSanitizer || kThreadSanitizer || has_moved()) &&
           (text.find("viaduct-splitc") != std::string::npos ||
            text.find("a mapping at " + base + " ") != std::string::npos);
  };
  try_family(family);
}

/// All ranks of the job in this process, each with what Active Messages set up.
int rank_body(Job& job, int, char**) {
  set_up_messages(job);
  return 0;
}

Family ranks_that_are_threads(int (*body)(Job&, int, char**)) {
  Family family{"ranks that are threads"};
  family.prepare = [] {
    static const PageMapping page = PageMapping::create(2);
    const auto set = [](const char* name, const std::string& value) {
      ::setenv(name, value.c_str(), 1);
    };
    set(launch::kJobId, "set-up");
    set(launch::kMode, "threads");
    set(launch::kSize, "2");
    set(launch::kPage, std::to_string(page.fd()));
    set(launch::kKeepGoing, "1");
  };
  family.attempt = [body] {
    const int code = viaduct::run(body, 0, nullptr);
    is_done();
    if (code != 0) throw std::runtime_error("the job has failed");
  };
  family.once = true;
  family.may_end = true;
  // The order of calls differs from one attempt to the next, so that few are missed for good.
  const char* const stride = std::getenv("SET_UP_STRIDE");
  family.stride = stride != nullptr ? std::atol(stride) : 7;
  return family;
}

TEST(SetUp, RanksThatAreThreads) { try_family(ranks_that_are_threads(rank_body)); }

thread_local bool t_asked = false;
thread_local bool t_answered = false;
thread_local bool t_returned = false;
void on_answer(am::Token&) { t_answered = true; }
void on_ask(am::Token& token) {
  t_asked = true;
  (void)token.reply<on_answer>();
}

/// The ranks connect: rank 0 asks rank 1, by a short message and with data.
int connect(Job& job, int, char**) {
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle, am::kTagAll);
  endpoint.map_all();
  endpoint.make_segment(65536);
  endpoint.set_undeliverable_handler([](const am::Returned&) { t_returned = true; });
  if (bundle.barrier() != Status::ok) throw std::runtime_error("the other rank is lost");
  if (job.rank() == Rank{0}) set_up::begins();  // rank 1 waits to be asked
  const Rank peer{1 - index(job.rank())};
  if (job.rank() == Rank{0} && endpoint.request<on_ask>(am::Index{1}) != Status::ok)
    throw std::runtime_error("the other rank is lost");
  (void)bundle.wait_until([&] { return t_asked || t_answered || t_returned || job.is_lost(peer); });
  if (!t_asked && !t_answered) throw std::runtime_error("no message comes through");
  if (bundle.barrier() != Status::ok) throw std::runtime_error("the other rank is lost");
  is_done();
  return 0;
}

/// Two ranks whose messages go through a transport: its regions of the window, its queue pairs, and
/// the segments.
Family threads_on_devices() {
  Family family = ranks_that_are_threads(connect);
  family.ends = true;
  return family;
}

/// The same, from where they connect on, and each call.
Family threads_that_connect() {
  Family family = threads_on_devices();
  family.name = "ranks that are threads, connecting";
  family.late = true;
  family.stride = 1;
  return family;
}

/// These tests are there under software devices only (tests/verbs-vm/CMakeLists.txt).
class OnDevices : public testing::Test {
 public:
  using Way = void(const Family&);
  OnDevices(Way* way, Family (*family)()) : way_(way), family_(family) {}
  void TestBody() override { way_(family_()); }

 private:
  Way* way_;
  Family (*family_)();
};

[[maybe_unused]] const bool g_on_devices = [] {
  if (!set_up::has_devices()) return false;
  const auto add = [](const char* suite, OnDevices::Way* way, const char* name,
                      Family (*family)()) {
    testing::RegisterTest(suite, name, nullptr, nullptr, __FILE__, __LINE__,
                          [way, family]() -> OnDevices* { return new OnDevices(way, family); });
  };
  add("SetUpOnDevices", set_up::refuse_on_devices, "Nic", nic_of_verbs);
  add("SetUpOnDevices", set_up::refuse_on_devices, "RanksThatAreThreads", threads_on_devices);
  add("SetUpBesideDevices", set_up::fail_beside_devices, "Nic", nic_of_verbs);
  add("SetUpBesideDevices", set_up::fail_beside_devices, "RanksThatAreThreads", threads_on_devices);
  add("SetUpBesideDevices", set_up::fail_beside_devices, "Connecting", threads_that_connect);
  return true;
}();

}  // namespace
