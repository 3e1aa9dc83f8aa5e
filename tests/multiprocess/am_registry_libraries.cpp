// Handlers in libraries that every rank opens at another address and in another order: the ids must
// be the same everywhere, and lead each rank to its own copy of the right function.

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/multiprocess/am_registry_library.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"

namespace {

using viaduct::Job;
using viaduct::Rank;

void check(bool holds, const std::string& sentence) {
  if (!holds) throw std::runtime_error(sentence);
}

struct Handlers {
  std::vector<LibraryHandler*> all;
  std::once_flag once;  // ranks that are threads share the libraries

  void open(const char* path) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    const auto enroll = reinterpret_cast<RegisterLibrary>(dlsym(library, kRegisterLibrary));
    check(enroll != nullptr, fmt::format("{} has no {}", path, kRegisterLibrary));
    std::size_t count = 0;
    LibraryHandler* const first = enroll(viaduct::am::register_handler, &count);
    for (std::size_t i = 0; i < count; ++i) all.push_back(first + i);
  }
};
Handlers handlers;

// Moves what is mapped next, by an amount that depends on the rank, even where addresses are not
// randomised.
void shift_addresses(std::uint32_t rank) {
  const std::size_t bytes = (std::size_t{rank} + 1) << 21;
  check(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED,
        "mmap failed");
}

void open_libraries(const Job& job, char** argv) {
  const std::uint32_t rank = viaduct::index(job.rank());
  shift_addresses(rank);
  const bool reversed = rank % 2 == 1;
  handlers.open(argv[reversed ? 2 : 1]);
  handlers.open(argv[reversed ? 1 : 2]);
}

// What a rank publishes about one handler. Names are "a1" to "b3".
struct Fact {
  std::array<char, 4> name;
  std::uint32_t handler_number;
  std::uint64_t address;
};

std::vector<Fact> facts() {
  std::vector<Fact> result;
  for (const LibraryHandler* h : handlers.all) {
    Fact fact{{}, h->handler_number, reinterpret_cast<std::uintptr_t>(h->function)};
    std::strncpy(fact.name.data(), h->name, fact.name.size() - 1);
    result.push_back(fact);
  }
  return result;
}

std::vector<Fact> facts_of(Job& job, Rank rank) {
  const auto bytes = job.bootstrap().get(rank, "facts");
  std::vector<Fact> result(bytes.size() / sizeof(Fact));
  std::memcpy(result.data(), bytes.data(), result.size() * sizeof(Fact));
  return result;
}

const Fact& find(const std::vector<Fact>& all, const Fact& like) {
  for (const Fact& fact : all) {
    if (fact.name == like.name) return fact;
  }
  throw std::runtime_error(fmt::format("a rank has no handler {}", like.name.data()));
}

void check_own(std::span<const viaduct::am::Thunk> thunks) {
  for (const LibraryHandler* h : handlers.all) {
    const std::size_t place = std::size_t{h->handler_number} - viaduct::am::kFirstTypedId;
    check(place < thunks.size() && thunks[place] == h->thunk,
          fmt::format("handler number {} does not lead to {}", h->handler_number, h->name));
    check(std::strcmp(viaduct::am::handler_name(h->handler_number), h->name) == 0,
          fmt::format("handler number {} is named {}, not {}", h->handler_number,
                      viaduct::am::handler_name(h->handler_number), h->name));
  }
}

void check_against(Job& job, Rank other, const std::vector<Fact>& own) {
  const auto theirs = facts_of(job, other);
  check(theirs.size() == own.size() && own.size() == 6, "a rank lacks handlers");
  for (const Fact& mine : own) {
    const Fact& same = find(theirs, mine);
    check(same.handler_number == mine.handler_number,
          fmt::format("{} is {} here and {} at rank {}", mine.name.data(), mine.handler_number,
                      same.handler_number, viaduct::index(other)));
    check(job.threads_mode() || other == job.rank() || same.address != mine.address,
          fmt::format("{} has one address in two ranks: this run shows nothing", mine.name.data()));
  }
}

int body(Job& job, int argc, char** argv) {
  check(argc == 3, "usage: am_registry_libraries LIBRARY_A LIBRARY_B");
  std::call_once(handlers.once, open_libraries, std::cref(job), argv);
  check_own(viaduct::am::agree_on_handlers(job));
  const auto own = facts();
  job.bootstrap().put("facts", std::as_bytes(std::span(own)));
  job.bootstrap().fence();
  for (std::uint32_t r = 0; r < job.size(); ++r) check_against(job, Rank{r}, own);
  job.bootstrap().fence();
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
