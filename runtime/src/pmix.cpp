#include "runtime/src/pmix.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pmix.h>
#include <unistd.h>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

constexpr const char* kLibrary = "libpmix.so.2";
constexpr auto kBetweenQuestions = std::chrono::milliseconds(20);

pmix_proc_t process_of(const std::string& name_space, pmix_rank_t rank) noexcept {
  pmix_proc_t process{};
  name_space.copy(process.nspace, sizeof process.nspace - 1);
  process.rank = rank;
  return process;
}

/// The answer that a callback of the library's own thread hands over, perhaps when no call waits
/// for it any more.
struct Answer {
  std::mutex mutex;
  std::condition_variable came;
  bool here = false;
  pmix_status_t status = PMIX_SUCCESS;
  std::string text;
};

void take_answer(pmix_status_t status, pmix_value_t* value, void* data) {
  const std::unique_ptr<std::shared_ptr<Answer>> owner(static_cast<std::shared_ptr<Answer>*>(data));
  Answer& answer = **owner;
  const std::lock_guard lock(answer.mutex);
  answer.status = status;
  if (status == PMIX_SUCCESS && value != nullptr && value->type == PMIX_STRING)
    answer.text = value->data.string;
  answer.here = true;
  answer.came.notify_all();
}

/// The launcher's server is gone, so that no process would end this rank: it kills itself. Called
/// by the library's own thread.
void on_lost_server(std::size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*, std::size_t,
                    pmix_info_t*, std::size_t, pmix_event_notification_cbfunc_fn_t, void*) {
  ::kill(::getpid(), SIGKILL);
}

}  // namespace

struct Pmix::Library {
  void* handle;
  decltype(&PMIx_Init) init;
  decltype(&PMIx_Finalize) finalize;
  decltype(&PMIx_Get) get;
  decltype(&PMIx_Get_nb) get_nb;
  decltype(&PMIx_Put) put;
  decltype(&PMIx_Commit) commit;
  decltype(&PMIx_Error_string) error_string;
  decltype(&PMIx_Register_event_handler) register_event_handler;

  Library() : handle(::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr)
      throw Error(errors::pmix_library, std::errc::not_supported,
                  fmt::format("a PMIx launcher started this process, and {} cannot be loaded ({}): "
                              "install it (on Debian: libpmix2), or start the program with "
                              "viaduct-run",
                              kLibrary, ::dlerror()));
    find(init, "PMIx_Init");
    find(finalize, "PMIx_Finalize");
    find(get, "PMIx_Get");
    find(get_nb, "PMIx_Get_nb");
    find(put, "PMIx_Put");
    find(commit, "PMIx_Commit");
    find(error_string, "PMIx_Error_string");
    find(register_event_handler, "PMIx_Register_event_handler");
  }

  template <class Function>
  void find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(::dlsym(handle, name));
    if (function == nullptr)
      throw Error(errors::pmix_library, std::errc::not_supported,
                  fmt::format("{} has no {}: install PMIx 3 or newer (on Debian: libpmix2)",
                              kLibrary, name));
  }

  [[noreturn]] void refuse(pmix_status_t status, const std::string& what) const {
    throw Error(errors::pmix_server, std::errc::host_unreachable,
                fmt::format("{} ({}): start it with viaduct-run, or with a launcher that is a PMIx "
                            "server (mpirun of Open MPI, srun --mpi=pmix), or unset PMIX_NAMESPACE "
                            "for a job of one rank",
                            what, error_string(status)));
  }
};

Pmix::Pmix() : library_(std::make_unique<Library>()) {
  const char* const wanted = std::getenv("PMIX_NAMESPACE");
  pmix_proc_t self{};
  const pmix_status_t status = library_->init(&self, nullptr, 0);
  if (status != PMIX_SUCCESS)
    library_->refuse(status, fmt::format("PMIX_NAMESPACE={} speaks of a PMIx server that does not "
                                         "answer",
                                         wanted != nullptr ? wanted : ""));
  name_space_ = self.nspace;
  rank_ = self.rank;
  size_ = ask_number(PMIX_JOB_SIZE);
  local_size_ = ask_number(PMIX_LOCAL_SIZE);
  pmix_status_t lost = PMIX_ERR_LOST_CONNECTION;
  // Where it is refused the launcher's end goes unnoticed, as it does without Viaduct.
  static_cast<void>(
      library_->register_event_handler(&lost, 1, nullptr, 0, on_lost_server, nullptr, nullptr));
}

Pmix::~Pmix() = default;  // the library stays: its thread runs until the process ends

std::uint32_t Pmix::ask_number(const char* key) const {
  const pmix_proc_t all = process_of(name_space_, PMIX_RANK_WILDCARD);
  pmix_value_t* value = nullptr;
  const pmix_status_t status = library_->get(&all, key, nullptr, 0, &value);
  if (status != PMIX_SUCCESS || value == nullptr || value->type != PMIX_UINT32)
    library_->refuse(status, fmt::format("the PMIx server does not say {}", key));
  const std::uint32_t number = value->data.uint32;
  std::free(value);
  return number;
}

void Pmix::publish(const char* key, const std::string& text) {
  pmix_value_t value{};
  value.type = PMIX_STRING;
  value.data.string = const_cast<char*>(text.c_str());
  pmix_status_t status = library_->put(PMIX_GLOBAL, key, &value);
  if (status == PMIX_SUCCESS) status = library_->commit();
  if (status != PMIX_SUCCESS) library_->refuse(status, "the PMIx server takes no data");
}

std::optional<std::string> Pmix::fetch(std::uint32_t rank, const char* key,
                                       std::chrono::nanoseconds limit) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point until = Clock::now() + limit;
  while (true) {
    std::string text;
    const int status = ask_text(rank, key, until, text);
    if (status == PMIX_SUCCESS) return text;
    if (status != PMIX_ERR_NOT_FOUND && status != PMIX_ERR_TIMEOUT)
      library_->refuse(status, fmt::format("the PMIx server has no data of rank {}", rank));
    if (Clock::now() >= until) return std::nullopt;
    std::this_thread::sleep_for(kBetweenQuestions);
  }
}

/// One question; PMIX_ERR_TIMEOUT when there was no answer until @p limit.
int Pmix::ask_text(std::uint32_t rank, const char* key, std::chrono::steady_clock::time_point limit,
                   std::string& text) const {
  const auto answer = std::make_shared<Answer>();
  const pmix_proc_t owner = process_of(name_space_, rank);
  auto* const data = new std::shared_ptr<Answer>(answer);
  const pmix_status_t status = library_->get_nb(&owner, key, nullptr, 0, take_answer, data);
  if (status != PMIX_SUCCESS) {
    delete data;
    return status;
  }
  std::unique_lock lock(answer->mutex);
  if (!answer->came.wait_until(lock, limit, [&] { return answer->here; })) return PMIX_ERR_TIMEOUT;
  text = answer->text;
  return answer->status;
}

void Pmix::finalize() noexcept { library_->finalize(nullptr, 0); }

}  // namespace viaduct
