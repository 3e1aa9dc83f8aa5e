#pragma once
// The private part of Machine: the whole state of a Split-C process besides its memory and its
// collectives, and the functions on it. Each group of functions names the file that defines it.
//
// - Channels: one connection to each peer that this process has talked to, with credits.
// - Service: in a poll the owner of memory carries out the requests of other processes.
// - Placement: whether an operation goes by loads and stores, by RDMA or by a message.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include "splitc/detail/machine.hpp"
#include "splitc/src/channel.hpp"
#include "splitc/src/chunks.hpp"
#include "splitc/src/code.hpp"
#include "splitc/src/stage.hpp"
#include "via/channel/engine.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/mapped_memory.hpp"
#include "viaduct/runtime/wait.hpp"
#include "viaduct/runtime/way_trial.hpp"
#include "viaduct/splitc/atomic.hpp"
#include "viaduct/splitc/choice.hpp"
#include "viaduct/splitc/detail/access.hpp"
#include "viaduct/splitc/detail/collective.hpp"
#include "viaduct/splitc/path.hpp"

namespace viaduct::splitc::detail {

/// The peer of a wait that no loss of a process ends.
inline constexpr std::uint32_t kNobody = kAnyone - 1;

/// Copies a value of a word's size in one piece where it is aligned; other values may be seen half
/// written. @p places: the or of the addresses whose alignment is not known.
inline void copy_value(std::byte* to, const std::byte* from, std::size_t bytes,
                       std::uintptr_t places) noexcept {
  const auto whole = [&](std::size_t n) { return bytes == n && places % n == 0; };
  if (whole(8)) [[likely]]
    return store_word(to, load_word<std::uint64_t>(from));
  if (whole(4)) return store_word(to, load_word<std::uint32_t>(from));
  if (whole(2)) return store_word(to, load_word<std::uint16_t>(from));
  if (whole(1)) return store_word(to, load_word<std::uint8_t>(from));
  std::memmove(to, from, bytes);
}
inline void copy_value(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  copy_value(to, from, bytes,
             reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from));
}

[[nodiscard]] const char* to_string(Rmw what) noexcept;  // atomic.cpp
/// rmw_here() of a word of @p bytes bytes, 4 or 8.
[[nodiscard]] std::uint64_t rmw_of(std::size_t bytes, std::byte* place, Rmw what,
                                   std::uint64_t operand, std::uint64_t expected) noexcept;
/// read, write: a get and a put for which the caller waits.
enum class Transfer : std::uint8_t { get, read, put, write };
[[nodiscard]] constexpr bool is_out(Transfer what) noexcept { return what >= Transfer::put; }
[[nodiscard]] constexpr bool is_waited_for(Transfer what) noexcept {
  return what == Transfer::read || what == Transfer::write;
}
/// Begins to move @p bytes bytes between the program's memory and another process': directly, by
/// RDMA or by messages. @p operation is the name of the program's call. access.cpp
Handle transfer(const char* operation, std::uint64_t word, void* local, std::size_t bytes,
                Transfer what);
/// transfer(), and waits for its end.
void complete(const char* operation, std::uint64_t word, void* local, std::size_t bytes,
              Transfer what);
inline Handle put_as(const char* operation, std::uint64_t to, const void* from, std::size_t bytes) {
  return transfer(operation, to, const_cast<void*>(from), bytes, Transfer::put);
}
/// Stops the program when its own address @p local is null, or no memory has @p bytes bytes.
void check_local(const char* operation, const void* local, std::size_t bytes);
/// transfer() by messages, staged in pieces. bulk.cpp
Handle block_by_message(Machine::Impl& impl, const char* operation, std::uint64_t word,
                        std::byte* local, std::size_t bytes, bool out);
/// @p count: the place in the target's table of counts, Impl::epoch or a store_counter's.
void store_block(const char* operation, std::uint64_t to, const void* from, std::size_t bytes,
                 std::uint32_t count);
void store_value(const char* operation, std::uint64_t to, const void* from, std::size_t bytes,
                 std::uint32_t count);

/// From now on an access through an aligned word to a place without memory ends the program with a
/// sentence, unless the program handles SIGSEGV itself. wild_access.cpp
void explain_wild_accesses() noexcept;

/// While this object lives, a function runs that another process has sent by atomic(). That
/// function may not use Split-C: the constructor hides this process' state from it. It may not use
/// Active Messages either: the engine's other clients refuse. Single words are kept, and not a copy
/// of `hot`: the wide loads of a copy wait until the stores of the single words have left the store
/// buffer.
class GuestCall {
 public:
  GuestCall() noexcept
      : views_(hot.views),
        attention_(hot.attention),
        aligned_bit_(hot.aligned_bit),
        next_header_(hot.next_header),
        empty_header_(hot.empty_header),
        machine_(hot.machine),
        collective_engine_(the_collective_engine),
        engine_(engine_with_others()) {
    if (engine_ != nullptr) [[unlikely]]
      engine_->begin_function();
    hot.views = &no_views;
    hot.aligned_bit = 0;
    hot.next_header = &quiet_word;
    hot.empty_header = 0;
    hot.attention = &quiet_word;
    hot.machine = nullptr;
    the_collective_engine = nullptr;
  }
  ~GuestCall() {
    hot.views = views_;
    hot.attention = attention_;
    hot.aligned_bit = aligned_bit_;
    hot.next_header = next_header_;
    hot.empty_header = empty_header_;
    hot.machine = machine_;
    the_collective_engine = collective_engine_;
    if (engine_ != nullptr) [[unlikely]]
      engine_->end_function();
  }
  GuestCall(const GuestCall&) = delete;
  GuestCall& operator=(const GuestCall&) = delete;

 private:
  /// Null: Split-C is the only client, or the function runs in another one.
  [[nodiscard]] static via::channel::Engine* engine_with_others() noexcept;

  const Views* views_;
  const std::uint64_t* attention_;
  std::uint64_t aligned_bit_;
  const std::uint64_t* next_header_;
  std::uint64_t empty_header_;
  Machine* machine_;
  CollectiveEngine* collective_engine_;
  via::channel::Engine* engine_;
};

[[noreturn, gnu::cold]] void stop_thrown(std::uint32_t process, const char* what);  // atomic.cpp

/// Runs @p thunk for @p process, while a GuestCall lives. An exception of the thunk ends the job,
/// since the process that has called atomic() may be another one.
inline void run_thunk(std::uint32_t process, CallThunk thunk, const std::byte* arguments,
                      std::byte* result) noexcept {
  try {
    thunk(arguments, result);
  } catch (const std::exception& problem) {
    stop_thrown(process, problem.what());
  } catch (...) {
    stop_thrown(process, "what is no std::exception");
  }
}
inline void run_guest(std::uint32_t process, CallThunk thunk, const std::byte* arguments,
                      std::byte* result) noexcept {
  const GuestCall guest;
  run_thunk(process, thunk, arguments, result);
}

enum Counter : std::uint32_t {
  kRequests,
  kWaits,   // requests that waited for a connection or a credit
  kDirect,  // operations on mapped memory that took the slow entry (static data, odd sizes, blocks)
  kRdma,    // by the NIC of this host
  kOneSided,  // to another host, without its owner's part
  kChunks,    // of this process' memory, registered for that
  kStores,
  kPulled,  // blocks that this process copied for others' stores
  kCounterCount,
};

struct Machine::Impl {
  Impl(Machine& machine, Job& job);
  ~Impl();

  // machine.cpp
  void register_memory();
  void leave();
  template <class Done>
  void wait(const char* operation, std::uint32_t process, Done&& done,
            Activity activity = Activity::waiting_message);  // wait.hpp
  /// Stops the program, with the name of @p operation, in a handler of Active Messages.
  void check_may_wait(const char* operation);
  /// Publishes all counts before a sleep. False: a connection has broken meanwhile.
  [[nodiscard]] bool publish_withheld() noexcept;
  void refresh_watch() noexcept;
  void poll_lightly();
  void check_lost(const char* operation, std::uint32_t process);
  /// Whether the program of @p process does nothing more before this process comes to a certain
  /// point: @p process is at the end of splitc_main, or waits in a barrier or collective call that
  /// this process has not reached. Collective calls of processes on other hosts are not known here.
  [[nodiscard]] bool is_ahead(std::uint32_t process) const noexcept;
  [[nodiscard]] bool all_others_are_ahead() const noexcept;
  void check_broken(const char* operation, std::uint32_t process);
  void map_view(std::uint32_t process);
  void align();
  void force(Path to);
  /// Whether @p process shares no memory with this one.
  [[nodiscard]] bool is_remote(std::uint32_t process) const noexcept {
    return nic->is_remote(Rank{process}) || (all_off_node && process != hot.myproc);
  }

  /// The bytes that go in the lines of messages to @p process.
  [[nodiscard]] std::size_t most_in_lines(std::uint32_t process) const noexcept {
    return nic->is_remote(Rank{process}) ? kFarInlineData : kInlineData;
  }

  // channel.cpp
  Channel& channel(std::uint32_t process, bool blocks, const char* operation);
  [[noreturn]] void end_of(Channel& c, const char* operation);
  Channel& make_channel(std::uint32_t process, std::uint16_t index);
  const StageName& stage_name();
  [[nodiscard]] bool are_far_blocks_taken();  // bulk.cpp
  void incoming(Rank from, std::uint64_t discriminator);
  void ended(Channel& c, via::ErrorCause cause);
  bool find_credits(Channel& c) noexcept;
  void note_requests(Channel& c) noexcept {
    const std::uint64_t requests = c.sent() - c.counted.requests;
    count(kRequests, requests);
    count(kStores, requests - (c.others - c.counted.others));
    c.counted = {c.counted.requests + requests, c.others};
  }
  void refresh_credits(Channel& c) noexcept;
  /// Sends a request if no wait is needed, not even for a connection; begins a missing connection.
  [[nodiscard]] bool try_request(std::uint32_t process, std::uint64_t client,
                                 const std::uint64_t* words, std::uint32_t bytes);
  /// Sends a request of @p bytes bytes of words; waits for a credit if none is left. Answers the
  /// ticket.
  std::uint64_t request(Channel& c, const char* operation, std::uint64_t client,
                        const std::uint64_t* words, std::uint32_t bytes);
  void reply(Channel& c, wire_format::Op op, std::uint32_t index, std::uint64_t ticket,
             const std::uint64_t* words, std::uint32_t bytes) noexcept;
  void publish(Channel& c) noexcept;
  void publish_dirty(bool all) noexcept;
  [[nodiscard]] bool is_handled(Channel& c, std::uint64_t ticket) noexcept;
  [[nodiscard]] bool is_complete(Handle handle) noexcept;
  /// Whether all gets and puts that went by @p c are complete.
  [[nodiscard]] bool is_quiet(Channel& c) noexcept {
    return c.replied >= c.last_get && is_handled(c, c.last_put) &&
           (c.last_transfer == 0 || is_transferred(c, c.last_transfer));
  }
  void note_open(Channel& c);
  Handle note_get(Channel& c, std::uint64_t ticket);
  /// For each request that a reply answers.
  Handle note_answered(Channel& c, std::uint64_t ticket) noexcept;
  Handle note_put(Channel& c, std::uint64_t ticket);
  void finish(const char* operation, Handle handle);
  void note_store(Channel& c);  // store.cpp

  /// For streams of one-way requests: whether known_slot() takes a request that need not wait. Else
  /// the request needs a poll point before it, at least once in kStream requests, or must wait.
  /// More poll points would cost time: a receiver that drains one message at a time contends with
  /// the sender for the slot's cache line. @p polled: the caller has just polled.
  template <bool polled = false>
  [[nodiscard]] static bool may_send_at_once(const Channel& c) noexcept {
    constexpr std::uint64_t kStream = 16;
    const std::uint64_t slots = c.channel->slots_sent();
    return slots != c.limit && (polled || slots % kStream != 0) && c.channel->known_room() != 0;
  }

  // serve.cpp: the owner's service
  /// Handles what has come for Split-C; poll_now() serves the other clients of the thread as well:
  /// when the engine's word says that something has come for one, each 256th time (64th when others
  /// have hot channels), and with @p all.
  std::uint32_t poll_own();
  std::uint32_t poll_now(bool all = false);
  /// poll_now() for calls that do not wait, and that programs call in loops until something has
  /// come.
  std::uint32_t look() {
    const std::uint32_t n = poll_now();
    if (n == 0) idle.pause();
    return n;
  }
  std::uint32_t serve_others(bool asked);
  struct Dispatcher;
  void note_dirty(Channel& c);
  void serve_store(Channel& c, std::uint64_t client, const std::uint64_t* words, std::size_t bytes);
  void serve(Channel& c, wire_format::Op op, std::uint64_t client, const std::uint64_t* words,
             std::size_t bytes);
  void take_reply(Channel& c, wire_format::Op op, std::uint64_t client, const std::uint64_t* words,
                  std::size_t bytes) noexcept;
  void serve_block(Channel& c, wire_format::Op op, std::uint64_t client,
                   const std::uint64_t* words);
  [[nodiscard]] StageName stage_with(Channel& c, wire_format::Op op, std::uint64_t place,
                                     std::size_t bytes);
  struct FarBlock {
    std::uint64_t address;  // at the other process
    std::uint32_t key;
    std::byte* mine;
    std::size_t bytes;
  };
  void answer_far_block(Channel& c, std::uint64_t client, const FarBlock& block);
  void take_far_block(Channel& c, wire_format::Op op, std::uint64_t client, const FarBlock& block);
  template <class Done>
  [[nodiscard]] bool await_device(Channel& c, Done done) noexcept;
  void finish_reads() noexcept;
  [[nodiscard]] Offer& offer_of(Channel& c, std::uint64_t place);
  void serve_pull(Channel& c, std::uint64_t client, const std::uint64_t* words);
  std::uint64_t modify(Channel& c, std::uint64_t client, const std::uint64_t* words);
  void serve_call(Channel& c, std::uint64_t client, const std::uint64_t* words);
  /// The memory of this process that a message of @p process names by @p address, which is the
  /// object's word without_process(). An address without memory ends the job with a sentence,
  /// instead of a signal.
  enum class Use : std::uint8_t { reads, writes };
  [[nodiscard]] std::byte* own_place(const char* operation, std::uint32_t process,
                                     std::uint64_t address, std::size_t bytes,
                                     Use use = Use::reads) {
    const std::uint64_t at = address - own_first;
    if (at < own_view.bytes && bytes <= own_view.bytes - at) [[likely]]
      return own_view.base + at;
    return own_place_slow(operation, process, address, bytes, use);
  }
  [[nodiscard]] std::byte* own_place_slow(const char* operation, std::uint32_t process,
                                          std::uint64_t address, std::size_t bytes, Use use);

  // locate.cpp: the place of an operation
  struct Place {
    std::byte* here = nullptr;     // direct
    std::uint32_t region = kNone;  // rdma: index of the owner's registered range
    static constexpr std::uint32_t kNone = 0xffffffff;
  };
  Place locate(const char* operation, std::uint64_t word, std::size_t bytes, Use use);
  [[nodiscard]] std::byte* found(std::uint32_t process, std::uint64_t address, std::size_t bytes,
                                 Use use);
  std::uint32_t region_of(const char* operation, std::uint32_t process, std::uint64_t address,
                          std::size_t bytes);
  bool rdma(std::uint32_t process, std::uint32_t region, std::uint64_t address, std::byte* local,
            std::size_t bytes, bool write) noexcept;

  // one_sided.cpp
  /// Begins the transfer @p what between @p local and the place of @p word. An empty handle:
  /// nothing was begun, and the data must go by message.
  Handle one_sided(const char* operation, std::uint64_t word, std::byte* local, std::size_t bytes,
                   Transfer what);
  [[nodiscard]] bool is_transferred(const Channel& c, std::uint64_t transfer) noexcept;
  void set_one_sided() noexcept;
  [[nodiscard]] bool is_rdma_faster(Channel& c, std::size_t bytes, Transfer what) noexcept;
  PeerChunks& chunks_of(std::uint32_t process);
  bool knows_chunks(Channel& c, const char* operation, std::uint64_t address, std::size_t bytes);
  bool ask_chunk(PeerChunks& chunks, Channel& c, const char* operation, std::uint64_t address,
                 bool tried);
  [[nodiscard]] std::size_t register_own(const std::byte* local, std::size_t bytes);
  [[nodiscard]] Chunk own_chunk(std::uint64_t address);
  void serve_chunk(Channel& c, const std::uint64_t* words);

  void count(Counter counter, std::uint64_t by = 1) noexcept { counters[counter] += by; }

  Machine& machine;
  Job& job;
  Path path = Path::automatic;
  std::shared_ptr<via::channel::Engine> engine;
  std::unique_ptr<via::channel::Nic> nic;
  via::ProtectionTag tag{};
  std::unique_ptr<via::channel::Group> group;
  via::channel::Flow flow;
  std::uint32_t publish_every = 1;
  std::unique_ptr<Stage> stage;  // in the job's window
  bool all_off_node = false;     // VIADUCT_SPLITC_OFF_NODE
  bool any_off_node = false;
  // The word of the light poll, for processes where every arrival shows in a word.
  const std::uint64_t* next_header = &quiet_word;
  std::uint64_t empty_header = 0;
  std::uint64_t transport_polled_at = 0;  // ticks_now() of the last light poll that was a poll
  // Another client of the thread has hot channels, whose arrivals show in no word.
  bool others_hot = false;
  // The last hot channel has been set aside, and a sender may have missed that: one look to come.
  bool look_to_come = false;
  std::uint32_t polls = 0;
  class Served;  // how the thread's other waits serve Split-C
  std::unique_ptr<Served> served;
  const Code code = find_code();

  std::vector<std::array<std::unique_ptr<Channel>, 2>> channels;  // by process
  std::vector<Channel*> all_channels;
  std::vector<Channel*> dirty;
  std::vector<Channel*> open;  // have gets or puts that sync() has not seen complete
  std::vector<Channel*> open_stores;

  MappedMemory view_pages;
  Views* views = nullptr;    // in them; hot.views is their address
  std::vector<bool> mapped;  // the view has been asked for
  struct Region {
    std::uint64_t address;  // in global pointers
    std::uint64_t there;    // in its owner's address space
    std::uint64_t bytes;
    std::uint32_t handle;
  };
  struct Owner {
    via::ProtectionTag tag{};
    std::vector<Region> regions;
    bool known = false;
    std::unique_ptr<PeerChunks> chunks;  // of another host; null: none was asked for
  };
  IdleLooks idle;
  std::vector<Owner> owners;  // for path rdma: by process
  RdmaFrom one_sided_from;    // lengths of what goes by RDMA to other hosts
  // Second way: RDMA. By length: 9 to 16 bytes, to 32, to 64, to 128, to 255.
  std::array<CostTrial, 5> get_trials;
  std::array<CostTrial, 5> put_trials;
  struct Timed {
    CostTrial* trial = nullptr;  // that this transfer() takes part in
    std::uint64_t began = 0;
  } timed;
  ChunkTable own_chunks;  // asked for by others, or used from here
  UseOfChunks own_used;
  std::vector<via::MemoryRegion> registered;
  bool regions_told = false;

  // Stores: bytes delivered and not waited for. The first two places are those of the senders'
  // epochs: all_store_sync() begins a new epoch, and a process that is through it may store before
  // this one is. The places of the counters follow; counters have no epochs.
  std::uint32_t epoch = 0;
  std::array<std::uint64_t, kCountPlaces> delivered{};

  bool failed = false;             // leave() does not wait for the others for long
  std::uint32_t broken = kNobody;  // the first process whose connection has broken
  std::uint64_t broken_at_ns = 0;
  std::array<std::uint64_t, kCounterCount> counters{};
  View own_view;  // this process'; empty in checked mode, so that own_place_slow() looks
  std::uint64_t own_first = 0;  // without_process()
  StageName own_stage_name;     // no bytes: not registered
  /// Blocks of a process on another host that the device copies while a poll goes on: those of a
  /// row of messages. Before they are here, no other message of that process is served, and no
  /// count of it is published.
  struct Reads {
    Channel* channel = nullptr;  // null: none
    std::uint64_t transfer = 0;  // of the link: the last one
    std::byte* begin = nullptr;  // what they change lies from here
    std::byte* end = nullptr;    // to here
    std::uint64_t bytes = 0;     // of the stores among them
    std::uint32_t count = 0;     // the stores' place in delivered
  };
  Reads reads;
};

inline via::channel::Engine* GuestCall::engine_with_others() noexcept {
  if (hot.machine == nullptr) return nullptr;
  via::channel::Engine* const engine = hot.machine->impl().engine.get();
  return engine->is_alone() ? nullptr : engine;
}

}  // namespace viaduct::splitc::detail
