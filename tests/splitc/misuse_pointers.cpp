/// Null pointers, processes that do not exist, addresses where nothing is: in every operation.

#include <array>

#include "tests/splitc/misuse.hpp"

namespace viaduct::splitc_test {
namespace {

using namespace splitc;

using Large = std::array<int, 25>;  // more than a message carries

constexpr std::uint64_t kNowhere = 0x10000;

void nothing() {}
void take(int*) {}
/// May only be read, and no peer has mapped it.
const int read_only[4096] = {1};

struct Access {
  const char* name;
  const char* operation;  // as the program calls it
  const char* served;     // what its owner knows of it
  void (*act)(global_ptr<int>);
  bool is_usual = false;
};

template <class Act>
void with_block(Act&& act) {
  std::vector<int> block(2000);
  act(block);
}

constexpr const char* kReads = "read or get";
constexpr const char* kWrites = "write, put or store_now";
constexpr const char* kBlockReads = "bulk_read or bulk_get";
constexpr const char* kBlockWrites = "bulk_write, bulk_put or bulk_store_now";
constexpr const char* kLocks = "compare_swap or lock";
constexpr const char* kAtomic = "atomic";
constexpr const char* kAtomicPut = "atomic_put";

global_ptr<Large> large(global_ptr<int> p) { return global_ptr<Large>(p); }
global_ptr<lock_t> as_lock(global_ptr<int> p) { return global_ptr<lock_t>(p); }

const Access kAccesses[] = {
    {"read", "read", kReads, [](auto p) { (void)read(p); }, true},
    {"write", "write", kWrites, [](auto p) { write(p, 1); }},
    {"write_fenced", "write_fenced", kWrites, [](auto p) { write_fenced(p, 1); }},
    {"reference", "read", kReads, [](auto p) { *p += 1; }},
    {"assign", "write", kWrites, [](auto p) { *p = 1; }},
    {"get", "get", kReads,
     [](auto p) {
       int value = 0;
       wait(get(&value, p));
     }},
    {"put", "put", kWrites, [](auto p) { put(p, 1); }, true},
    {"store", "store", "store", [](auto p) { store(p, 1); }, true},
    {"store_now", "store_now", kWrites, [](auto p) { store_now(p, 1); }},
    {"read_large", "read", kBlockReads, [](auto p) { (void)read(large(p)); }},
    {"write_large", "write", kBlockWrites, [](auto p) { write(large(p), {}); }},
    {"get_large", "get", kBlockReads,
     [](auto p) {
       Large value;
       wait(get(&value, large(p)));
     }},
    {"put_large", "put", kBlockWrites, [](auto p) { wait(put(large(p), {})); }},
    {"store_large", "store", "bulk_store", [](auto p) { store(large(p), {}); }},
    {"store_now_large", "store_now", kBlockWrites, [](auto p) { store_now(large(p), {}); }},
    {"bulk_read", "bulk_read", kBlockReads,
     [](auto p) { with_block([p](auto& b) { bulk_read(b.data(), p, b.size()); }); }},
    {"bulk_write", "bulk_write", kBlockWrites,
     [](auto p) { with_block([p](auto& b) { bulk_write(p, b.data(), b.size()); }); }},
    {"bulk_get", "bulk_get", kBlockReads,
     [](auto p) { with_block([p](auto& b) { wait(bulk_get(b.data(), p, b.size())); }); }, true},
    {"bulk_put", "bulk_put", kBlockWrites,
     [](auto p) { with_block([p](auto& b) { bulk_put(p, b.data(), b.size()); }); }},
    {"bulk_store", "bulk_store", "bulk_store",
     [](auto p) { with_block([p](auto& b) { bulk_store(p, b.data(), b.size()); }); }},
    {"bulk_store_few", "bulk_store", "store",
     [](auto p) { with_block([p](auto& b) { bulk_store(p, b.data(), 2); }); }},
    {"bulk_store_now", "bulk_store_now", kBlockWrites,
     [](auto p) { with_block([p](auto& b) { bulk_store_now(p, b.data(), b.size()); }); }},
    {"fetch_add", "fetch_add", "fetch_add", [](auto p) { (void)fetch_add(p, 1); }, true},
    {"fetch_and", "fetch_and", "fetch_and", [](auto p) { (void)fetch_and(p, 1); }},
    {"fetch_or", "fetch_or", "fetch_or", [](auto p) { (void)fetch_or(p, 1); }},
    {"fetch_xor", "fetch_xor", "fetch_xor", [](auto p) { (void)fetch_xor(p, 1); }},
    {"swap", "swap", "swap", [](auto p) { (void)swap(p, 1); }},
    {"compare_swap", "compare_swap", kLocks, [](auto p) { (void)compare_swap(p, 0, 1); }},
    {"lock", "lock", kLocks, [](auto p) { lock(as_lock(p)); }, true},
    {"try_lock", "try_lock", kLocks, [](auto p) { (void)try_lock(as_lock(p)); }},
    {"unlock", "unlock", kLocks, [](auto p) { unlock(as_lock(p)); }},
    {"atomic", "atomic", kAtomic, [](auto p) { atomic<take>(p); }, true},
    {"atomic_put", "atomic_put", kAtomicPut, [](auto p) { atomic_put<take>(p); }},
};

global_ptr<int> at(std::uint32_t process, std::uint64_t address) {
  return global_ptr<int>::from_word(splitc::detail::make_word(process, address));
}

bool writes(const Access& a) {
  return a.served != kReads && a.served != kBlockReads && a.served != kAtomic &&
         a.served != kAtomicPut && std::string(a.name) != "reference";
}

void add_accesses(Misuses& all, const Access& a) {
  const auto add = [&](const std::string& kind, const std::string& words, global_ptr<int> p) {
    all.push_back({kind + "_" + a.name, kStopped, words,
                   [&a, p] {
                     a.act(p);
                     splitc::sync();  // what is put need not have been looked at before
                   },
                   a.is_usual});
  };
  const auto procs = static_cast<std::uint32_t>(PROCS);
  constexpr std::uint64_t kSomewhere = 0x1000000;
  const std::string says = rank_says(0, a.operation);
  add("null", says + "the global pointer is null: give it an object", {});
  add("null_elsewhere", says + "the global pointer is null: give it an object", at(1 % procs, 0));
  const std::string names = says + "the (global pointer|call) names process ";
  add("behind_last", names + std::to_string(procs) + ", " + processes(), at(procs, kSomewhere));
  add("largest", names + "65535, " + processes(), at(65535, kSomewhere));
  const std::string nothing_there = "process 0 names [0-9]+ bytes? at 0x10000 of process ";
  add("nowhere_here", says + nothing_there + "0, where there is no memory: look where",
      at(0, kNowhere));
  if (procs > 1)
    add("nowhere",
        rank_says(1, a.served) + nothing_there + "1, where there is no memory: look where",
        at(1, kNowhere));
  if (!writes(a)) return;
  const std::string only_read = ", which may only be read: look";
  const std::string named = "process 0 names [0-9]+ bytes? at 0x[0-9a-f]+ of process ";
  add("read_only_here", says + named + "0" + only_read, toglobal(0, const_cast<int*>(read_only)));
  if (procs > 1)
    add("read_only", rank_says(1, a.served) + named + "1" + only_read,
        toglobal(1, const_cast<int*>(read_only)));
}

/// Processes that do not fit a pointer's bits, and those that the job does not have.
void add_processes(Misuses& all) {
  static int here = 0;
  for (const int process : {-1, PROCS, 65536, 65536 + PROCS}) {
    const std::string wrong =
        "the call names process " + std::to_string(process) + ", " + processes();
    const std::string name = "process_" + std::to_string(process) + "_of_";
    all.push_back({name + "toglobal", kStopped, rank_says(0, "toglobal") + wrong,
                   [process] { (void)read(toglobal(process, &here)); }, true});
    all.push_back({name + "global_ptr", kStopped, rank_says(0, "toglobal") + wrong, [process] {
                     write(global_ptr<int>(static_cast<std::uint32_t>(process), &here), 1);
                   }});
    all.push_back({name + "atomic", kStopped, rank_says(0, "atomic") + wrong,
                   [process] { atomic<nothing>(process); }, true});
    all.push_back({name + "all_bcast", kStopped,
                   "all_bcast: there is no process " + std::to_string(process) +
                       ", which is to be the root: the job has the processes 0 to " +
                       std::to_string(PROCS - 1),
                   [process] { (void)all_bcast(1, process); }, false, true});
  }
}

template <class Act>
void add_local(Misuses& all, const std::string& operation, Act act) {
  all.push_back({"local_null_" + operation, kStopped,
                 rank_says(0, operation) + "the local address is null: give it memory", [act] {
                   static int here[100];
                   act(toglobal(next_process(), &here[0]));
                 }});
}

/// A negative count, and one whose bytes are more than a number of 64 bits holds.
template <class Act>
void add_counts(Misuses& all, const std::string& operation, Act act, bool is_usual = false) {
  const auto add = [&](const char* kind, std::size_t count, bool usual) {
    all.push_back({kind + operation, kStopped,
                   rank_says(0, operation) + "[0-9]+ bytes are more than a process' memory has",
                   [act, count] {
                     static int here[100];
                     with_block([&](auto& block) {
                       act(toglobal(next_process(), &here[0]), block.data(),
                           static_cast<std::size_t>(here[0]) + count);
                     });
                   },
                   usual});
  };
  add("negative_", static_cast<std::size_t>(-3), is_usual);
  add("too_many_", (std::size_t{1} << 62) + 2, false);
}

/// What is read by message cannot be written to where the program wants it.
void add_wild_target(Misuses& all) {
  if (PROCS == 1) return;
  all.push_back({"local_wild_bulk_read", kStopped,
                 "read: 40 bytes of process [0-9]+ cannot be written at 0x10000 of this process: "
                 "look at the local address",
                 [] {
                   static int there[10];
                   force_path(Path::message);
                   bulk_read(reinterpret_cast<int*>(kNowhere), toglobal(next_process(), &there[0]),
                             10);
                 },
                 false, true});
}

}  // namespace

void add_pointer_misuses(Misuses& all) {
  for (const Access& a : kAccesses) add_accesses(all, a);
  add_processes(all);
  add_local(all, "bulk_read", [](auto p) { bulk_read(nullptr, p, 100); });
  add_local(all, "bulk_write", [](auto p) { bulk_write(p, nullptr, 100); });
  add_local(all, "bulk_get", [](auto p) { bulk_get(nullptr, p, 100); });
  add_local(all, "bulk_put", [](auto p) { bulk_put(p, nullptr, 100); });
  add_local(all, "bulk_store", [](auto p) { bulk_store(p, nullptr, 100); });
  add_local(all, "bulk_store_now", [](auto p) { bulk_store_now(p, nullptr, 100); });
  add_counts(
      all, "bulk_read", [](auto p, int* b, auto n) { bulk_read(b, p, n); }, true);
  all.push_back({"negative_store_sync", kStopped,
                 rank_says(0, "store_sync") + "[0-9]+ bytes never come: the count is negative",
                 [] { store_sync(static_cast<std::size_t>(-1)); }});
  add_counts(all, "bulk_write", [](auto p, int* b, auto n) { bulk_write(p, b, n); });
  add_counts(all, "bulk_get", [](auto p, int* b, auto n) { bulk_get(b, p, n); });
  add_counts(all, "bulk_put", [](auto p, int* b, auto n) { bulk_put(p, b, n); });
  add_counts(
      all, "bulk_store", [](auto p, int* b, auto n) { bulk_store(p, b, n); }, true);
  add_counts(all, "bulk_store_now", [](auto p, int* b, auto n) { bulk_store_now(p, b, n); });
  add_wild_target(all);
}

}  // namespace viaduct::splitc_test
