// Typed handlers' handler numbers: registration before main, agreement at the start of each job.
//
// The only process-wide state of am/: registration happens before there is a Job to hold it, and
// ranks that are threads share the code that it is about.

#include "viaduct/am/registry.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "am/src/handler_list.hpp"
#include "am/src/modules.hpp"
#include "runtime/errors/codes.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::am {
namespace {

// Zero bytes only, and no destructor: usable before the first and after the last dynamic
// initialiser, and no relocations for unused places (HandlerEntry's own defaults would need one
// each).
struct Registrations {
  alignas(HandlerEntry) std::array<std::byte, kMaxTypedHandlers * sizeof(HandlerEntry)> storage;
  std::mutex mutex;  // over everything here
  std::size_t count;
  std::size_t agreed_count;  // registrations that the agreement covers
  bool agreed;
  std::array<Thunk, kMaxTypedHandlers> thunks;
  std::array<const char*, kMaxTypedHandlers> names;
  std::array<Takes, kMaxTypedHandlers> takes;
  std::array<bool, kMaxTypedHandlers> answers;
  AtomicWord<std::size_t> agreed_handlers;  // length of thunks and names, stored after them

  [[nodiscard]] std::span<const HandlerEntry> entries() const noexcept {
    return {reinterpret_cast<const HandlerEntry*>(storage.data()), count};
  }
};
static_assert(std::is_trivially_destructible_v<HandlerEntry> &&
              std::is_trivially_destructible_v<Registrations>);
constinit Registrations registrations{};

/// The messages of a handler that comes too late come back, and the number tells which handler it
/// is. @p place: among the registrations.
constexpr std::uint16_t late_id(std::size_t place) noexcept {
  return static_cast<std::uint16_t>(0xffff - place);
}
static_assert(late_id(kMaxTypedHandlers - 1) == kFirstLateId &&
              kFirstLateId >= kFirstTypedId + kMaxTypedHandlers);

/// The handler that was registered too late; null when @p handler_number is no such handler's. The
/// entry stays where it is.
const HandlerEntry* late_entry(std::uint16_t handler_number) noexcept {
  const std::lock_guard lock(registrations.mutex);
  const auto all = registrations.entries();
  const std::size_t place = std::size_t{late_id(0)} - handler_number;
  const bool late = registrations.agreed && place >= registrations.agreed_count;
  return late && place < all.size() ? &all[place] : nullptr;
}

// The data that a rank publishes about its handlers before the comparison.
struct Statement {
  std::uint64_t digest;
  std::uint32_t handlers;
  std::uint32_t late;  // handlers registered after this process' first agreement
};
static_assert(sizeof(Statement) == 16);

// The result of rank 0's comparison.
struct Verdict {
  std::uint32_t offender;   // the first rank that is late or differs from rank 0
  std::uint32_t offenders;  // how many there are; 0: all agree
};

constexpr std::string_view kStatementKey = "am.handlers";
constexpr std::string_view kVerdictKey = "am.handlers.verdict";
constexpr std::string_view kDigestsKey = "am.handlers.digests";
constexpr std::string_view kLineKey = "am.handlers.line";
constexpr std::string_view kExecutableKey = "am.handlers.executable";

// Longest text that goes round: template names have no bound, a bootstrap value has.
constexpr std::size_t kMaxTextBytes = 8192;

void put_text(Bootstrap& bootstrap, std::string_view key, std::string_view text) {
  bootstrap.put(key, std::as_bytes(std::span(text.substr(0, kMaxTextBytes))));
}

template <class T>
T get(Bootstrap& bootstrap, Rank rank, std::string_view key) {
  if (const std::optional<T> value = bootstrap.get_value<T>(rank, key)) return *value;
  throw Error(errors::versions_differ, std::errc::protocol_error,
              fmt::format("rank {} published something other than {} bytes under '{}'; start every "
                          "rank with the same version of this library",
                          index(rank), sizeof(T), key));
}

std::string get_text(Bootstrap& bootstrap, Rank rank, std::string_view key) {
  const std::vector<std::byte> bytes = bootstrap.get(rank, key);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// This process' handlers at one moment.
struct Snapshot {
  std::vector<HandlerEntry> entries;
  std::vector<ListedHandler> list;
  std::vector<std::uint64_t> digests;
  Statement statement{};
  std::string late_names;
};

std::string names_of(std::span<const HandlerEntry> entries) {
  std::string names;
  for (const HandlerEntry& entry : entries)
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

Snapshot take_snapshot() {
  Snapshot s;
  {
    const std::lock_guard lock(registrations.mutex);
    const auto all = registrations.entries();
    const std::size_t covered = registrations.agreed ? registrations.agreed_count : all.size();
    s.entries.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(covered));
    s.late_names = names_of(all.subspan(covered));
    s.statement.late = static_cast<std::uint32_t>(all.size() - covered);
  }
  s.list = list_handlers(s.entries, loaded_modules());
  s.digests = digests_of(s.list);
  s.statement.digest = digest(
      {reinterpret_cast<const char*>(s.digests.data()), s.digests.size() * sizeof(std::uint64_t)});
  s.statement.handlers = static_cast<std::uint32_t>(s.list.size());
  return s;
}

Verdict compare_all(Job& job, const Statement& own) {
  Verdict verdict{0, own.late != 0 ? 1U : 0U};
  for (std::uint32_t r = 1; r < job.size(); ++r) {
    const auto other = get<Statement>(job.bootstrap(), Rank{r}, kStatementKey);
    if (other.late == 0 && other.digest == own.digest && other.handlers == own.handlers) continue;
    if (verdict.offenders++ == 0) verdict.offender = r;
  }
  return verdict;
}

std::vector<std::uint64_t> get_digests(Bootstrap& bootstrap, Rank rank) {
  const std::vector<std::byte> bytes = bootstrap.get(rank, kDigestsKey);
  std::vector<std::uint64_t> digests(bytes.size() / sizeof(std::uint64_t));
  if (!digests.empty()) {
    std::memcpy(digests.data(), bytes.data(), digests.size() * sizeof(std::uint64_t));
  }
  return digests;
}

std::string explain_late(std::uint32_t rank, const std::string& executable,
                         const std::string& names) {
  return fmt::format(
      "rank {} ({}) loaded a library with typed handlers after its first Job had agreed on their "
      "ids: {}; load every library with handlers before the first Job",
      rank, executable, names);
}

// Collective, as all that follows: the two ranks in question publish, everyone composes the same
// sentence.
std::string compose_late(Job& job, const Snapshot& own, Rank offender) {
  Bootstrap& bootstrap = job.bootstrap();
  if (job.rank() == offender) {
    put_text(bootstrap, kLineKey, own.late_names);
    put_text(bootstrap, kExecutableKey, executable_path());
  }
  bootstrap.fence();
  return explain_late(index(offender), get_text(bootstrap, offender, kExecutableKey),
                      get_text(bootstrap, offender, kLineKey));
}

std::string compose_difference(Job& job, const Snapshot& own, Rank offender) {
  Bootstrap& bootstrap = job.bootstrap();
  const bool concerned = job.rank() == Rank{0} || job.rank() == offender;
  if (concerned) bootstrap.put(kDigestsKey, std::as_bytes(std::span(own.digests)));
  bootstrap.fence();
  const std::size_t place =
      first_difference(get_digests(bootstrap, Rank{0}), get_digests(bootstrap, offender));
  if (concerned) {
    put_text(bootstrap, kLineKey, place < own.list.size() ? line_of(own.list[place]) : "");
    put_text(bootstrap, kExecutableKey, executable_path());
  }
  bootstrap.fence();
  const auto side = [&](Rank r) -> DifferingSide {
    return {index(r), get_text(bootstrap, r, kExecutableKey), get_text(bootstrap, r, kLineKey)};
  };
  return explain_difference(place, side(Rank{0}), side(offender));
}

[[noreturn]] void explain_and_throw(Job& job, const Snapshot& own, const Verdict& verdict) {
  const Rank offender{verdict.offender};
  const bool is_late = get<Statement>(job.bootstrap(), offender, kStatementKey).late != 0;
  std::string sentence =
      is_late ? compose_late(job, own, offender) : compose_difference(job, own, offender);
  if (verdict.offenders > 1) {
    sentence += fmt::format(" ({} ranks of {} are concerned)", verdict.offenders, job.size());
  }
  throw Error(errors::handlers_differ, std::errc::invalid_argument, sentence);
}

// The first rank of the process to get here writes the ids; a later Job has found the same list.
void install(const Snapshot& s) {
  const std::lock_guard lock(registrations.mutex);
  if (registrations.agreed) return;
  for (std::size_t i = 0; i < s.list.size(); ++i) {
    const HandlerEntry& first = s.entries[s.list[i].entries.front()];
    registrations.thunks[i] = first.thunk;
    registrations.names[i] = first.name;
    registrations.takes[i] = {first.operation, first.signature_bytes};
    registrations.answers[i] = first.answers;
    for (const std::size_t e : s.list[i].entries) {
      *s.entries[e].handler_number = static_cast<std::uint16_t>(kFirstTypedId + i);
    }
  }
  registrations.agreed_count = s.entries.size();
  registrations.agreed = true;
  registrations.agreed_handlers.store(s.list.size(), kRelease);
}

}  // namespace

void register_handler(const HandlerEntry& entry) noexcept {
  const std::lock_guard lock(registrations.mutex);
  if (registrations.count == kMaxTypedHandlers) {
    violate_contract(
        errors::too_many_handlers,
        fmt::format("more than {} typed handlers are registered, {} is one too many; raise "
                    "kMaxTypedHandlers in am/registry.hpp and build again",
                    kMaxTypedHandlers, entry.name));
  }
  std::byte* const place =
      registrations.storage.data() + registrations.count * sizeof(HandlerEntry);
  new (place) HandlerEntry(entry);
  if (registrations.agreed) *entry.handler_number = late_id(registrations.count);
  ++registrations.count;
}

std::span<const Thunk> agree_on_handlers(Job& job) {
  Bootstrap& bootstrap = job.bootstrap();
  const Snapshot own = take_snapshot();
  bootstrap.put_value(kStatementKey, own.statement);
  bootstrap.fence();
  if (job.rank() == Rank{0}) bootstrap.put_value(kVerdictKey, compare_all(job, own.statement));
  bootstrap.fence();
  const auto verdict = get<Verdict>(bootstrap, Rank{0}, kVerdictKey);
  if (verdict.offenders != 0) explain_and_throw(job, own, verdict);
  install(own);
  return {registrations.thunks.data(), registrations.agreed_handlers.load(kAcquire)};
}

std::span<const char* const> handler_names() noexcept {
  return {registrations.names.data(), registrations.agreed_handlers.load(kAcquire)};
}

const Takes* typed_takes(std::uint16_t handler_number) noexcept {
  const std::size_t place = std::size_t{handler_number} - kFirstTypedId;
  return place < registrations.agreed_handlers.load(kAcquire) ? &registrations.takes[place]
                                                              : nullptr;
}

bool is_call_handler(std::uint16_t handler_number) noexcept {
  const std::size_t place = std::size_t{handler_number} - kFirstTypedId;
  if (place < registrations.agreed_handlers.load(kAcquire)) return registrations.answers[place];
  const HandlerEntry* const late = late_entry(handler_number);
  return late != nullptr && late->answers;
}

const char* handler_name(std::uint16_t handler_number) noexcept {
  const std::size_t count = registrations.agreed_handlers.load(kAcquire);
  // Huge for an id of the AM-2 table.
  const std::size_t place = std::size_t{handler_number} - kFirstTypedId;
  if (place < count) return registrations.names[place];
  if (const HandlerEntry* const late = late_entry(handler_number)) {
    thread_local std::array<char, 512> sentence;
    *fmt::format_to_n(sentence.data(), sentence.size() - 1,
                      "{} (of a library that was loaded after the Context, which no rank knows: "
                      "load every library with handlers before)",
                      late->name)
         .out = '\0';
    return sentence.data();
  }
  const char* const of =
      handler_number < kFirstTypedId ? "of the endpoint's own table" : "not registered";
  thread_local std::array<char, 48> text;
  *fmt::format_to(text.data(), "{} ({})", handler_number, of) = '\0';
  return text.data();
}

}  // namespace viaduct::am
