/// Start-up of SPMD programs.

#include "am/c/am_spmd.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "am/c/src/library.hpp"
#include "runtime/job_end.hpp"
#include "viaduct/runtime/bootstrap.hpp"

namespace viaduct::am::c {
namespace {

constexpr std::string_view kGatherKey = "am2.gather";
constexpr std::size_t kPiece = 32768;  // bytes that one value of the bootstrap may have

void (*exit_callback)(int) = nullptr;

struct Introduction {
  en_t name;
  tag_t tag;
  std::uint64_t pid;
};

/// What waits for all processes: all of it lasts as long as the process.
struct Place {
  Bundle* bundle = nullptr;           // of the endpoint
  viaduct_am_bundle* home = nullptr;  // with the endpoint and others
  ep_t endpoint = nullptr;
};
Place place_of(Port& port) noexcept { return {&port.bundle(), port.home.load(), port.handle}; }

/// Finds the endpoint of AMX_SPMDStartup. Answers AM_OK or the error of the call.
int find_spmd(Place& place) noexcept {
  if (is_in_handler()) return AM_ERR_IN_USE;
  const Cold cold;
  Port* const port = library().spmd;
  if (port == nullptr) return AM_ERR_NOT_INIT;
  place = place_of(*port);
  return AM_OK;
}

/// A call on the endpoint, so that it ends where another thread frees the endpoint.
int barrier(Place place) noexcept {
  const Call call(place.endpoint);
  if (call.port() == nullptr) return AM_ERR_NOT_INIT;
  const Status status = place.bundle->barrier();
  if (status != Status::ok) return status == Status::bad_state ? AM_ERR_NOT_INIT : AM_ERR_RESOURCE;
  catch_up(*place.home);
  return AM_OK;
}

/// Handles messages until all processes are at their end: they may send until then. No barrier: a
/// process that ends in a handler comes to none.
void await_others() noexcept {
  Place place;
  if (find_spmd(place) != AM_OK) return;
  Job& job = place.bundle->job();
  JobEnd::announce(job);
  (void)place.bundle->wait_until([&job] { return JobEnd::is_everyones(job); });
  catch_up(*place.home);
}

/// Messages are handled until all processes have come; then the exchange does not wait for long.
int gather(Place place, std::span<const std::byte> from, std::byte* to) {
  Job& job = place.bundle->job();
  if (from.empty()) return barrier(place);
  for (std::size_t at = 0; at < from.size(); at += kPiece) {
    const auto piece = from.subspan(at, std::min(kPiece, from.size() - at));
    if (const int result = barrier(place); result != AM_OK) return result;
    job.bootstrap().put(kGatherKey, piece);
    job.bootstrap().fence();
    for (std::uint32_t r = 0; r < job.size(); ++r) {
      const std::vector<std::byte> value = job.bootstrap().get(Rank{r}, kGatherKey);
      if (value.size() != piece.size()) return AM_ERR_BAD_ARG;
      std::memcpy(to + r * from.size() + at, value.data(), value.size());
    }
  }
  return AM_OK;
}

/// Maps the endpoints of all ranks under their tags.
int introduce(Port& port, unsigned long* networkpid) {
  Job& job = port.bundle().job();
  const auto me = static_cast<std::uint32_t>(index(job.rank()));
  // A tag of its own, which no other job is likely to have.
  const auto pid = static_cast<std::uint64_t>(getpid());
  const Introduction own{port.name_in_c, (pid << 32) + me + 1, pid};
  port.set_tag(own.tag);
  std::vector<Introduction> all(job.size());
  const int result = gather(place_of(port), std::as_bytes(std::span(&own, 1)),
                            reinterpret_cast<std::byte*>(all.data()));
  if (result != AM_OK) return result;
  for (std::uint32_t r = 0; r < job.size(); ++r)
    if (port.map(Index{r}, from_c(all[r].name), all[r].tag) != Status::ok) return AM_ERR_RESOURCE;
  if (networkpid != nullptr) *networkpid = all[0].pid;
  return AM_OK;
}

/// Makes the endpoint of AMX_SPMDStartup, which is in @p bundle alone.
int start_in(eb_t bundle, ep_t* ep, unsigned long* networkpid) noexcept {
  int result = viaduct_am_allocate_endpoint(bundle, ep, nullptr, 0, -1);
  if (result != AM_OK) return result;
  try {
    Port& port = *(*ep)->port.load();
    result = introduce(port, networkpid);
    if (result == AM_OK) library().spmd = &port;
    return result;
  } catch (const std::exception&) {
    return AM_ERR_RESOURCE;
  }
}

}  // namespace
}  // namespace viaduct::am::c

using namespace viaduct::am::c;

extern "C" {

int AMX_SPMDStartup(int* /*argc*/, char*** /*argv*/, int networkdepth, unsigned long* networkpid,
                    eb_t* eb, ep_t* ep) {
  if (networkdepth < 0 || eb == nullptr || ep == nullptr) return AM_ERR_BAD_ARG;
  if (library().spmd != nullptr) return AM_ERR_IN_USE;
  if (const int result = AM_Init(); result != AM_OK) return result;
  int result = AM_AllocateBundle(AM_SEQ, eb);
  if (result == AM_OK) {
    result = start_in(*eb, ep, networkpid);
    if (result != AM_OK) (void)AM_FreeBundle(*eb);
  }
  if (result != AM_OK) (void)AM_Terminate();
  return result;
}

int AMX_SPMDMyProc(void) {
  const viaduct::Job* const job = library().job.get();
  return job == nullptr ? 0 : static_cast<int>(index(job->rank()));
}

int AMX_SPMDNumProcs(void) {
  const viaduct::Job* const job = library().job.get();
  return job == nullptr ? 1 : static_cast<int>(job->size());
}

int AMX_SPMDBarrier(void) {
  Place place;
  const int result = find_spmd(place);
  return result == AM_OK ? barrier(place) : result;
}

int AMX_SPMDAllGather(const void* source, void* dest, size_t len) {
  Place place;
  const int result = find_spmd(place);
  if (result != AM_OK) return result;
  if (len != 0 && (source == nullptr || dest == nullptr)) return AM_ERR_BAD_ARG;
  try {
    return gather(place, {static_cast<const std::byte*>(source), len},
                  static_cast<std::byte*>(dest));
  } catch (const std::exception&) {
    return AM_ERR_RESOURCE;
  }
}

int AMX_SPMDExit(int exitcode) {
  if (library().spmd == nullptr) return AM_ERR_NOT_INIT;
  if (exit_callback != nullptr) exit_callback(exitcode);
  if (exitcode == 0) await_others();
  std::exit(exitcode);
}

int AMX_SPMDSetExitCallback(void (*callback)(int)) {
  exit_callback = callback;
  return AM_OK;
}

int AMX_SPMDIsWorker(char** /*argv*/) { return 1; }

const char* AMX_SPMDgetenvMaster(const char* keyname) {
  return keyname == nullptr ? nullptr : std::getenv(keyname);
}

int AMX_enEqual(en_t a, en_t b) { return a.ip_addr == b.ip_addr && a.port == b.port ? 1 : 0; }

}  // extern "C"
