/// Reads and writes that the inline paths do not cover.

#include "viaduct/splitc/access.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/errors/codes.hpp"
#include "splitc/src/wait.hpp"
#include "via/copy.hpp"
#include "viaduct/splitc/bulk.hpp"
#include "viaduct/splitc/store.hpp"

namespace viaduct::splitc {
namespace detail {

using wire_format::Op;

namespace {

/// Copies between the program's memory and memory that is mapped here; @p own: both are this
/// process'.
void copy_here(std::byte* to, const std::byte* from, std::size_t bytes, bool own) noexcept {
  if (bytes <= kInlineData) return copy_value(to, from, bytes);
  if (own)
    std::memmove(to, from, bytes);
  else
    via::copy_bytes(to, from, bytes);
}

Handle by_message(Machine::Impl& impl, const char* operation, std::uint64_t word, std::byte* local,
                  std::size_t bytes, bool out) {
  if (bytes > impl.most_in_lines(process_of(word)))
    return block_by_message(impl, operation, word, local, bytes, out);
  Channel& c = impl.channel(process_of(word), false, operation);
  Handle handle;
  for (std::size_t at = 0; at < bytes; at += kInlineData) {
    const auto n = static_cast<std::uint32_t>(std::min(kInlineData, bytes - at));
    std::uint64_t words[via::kWordsPerSlot] = {without_process(word) + at};
    if (out) {
      std::memcpy(words + 1, local + at, n);
      handle =
          impl.note_put(c, impl.request(c, operation, wire_format::make(Op::write), words, 8 + n));
    } else {
      words[1] = reinterpret_cast<std::uint64_t>(local + at);
      handle =
          impl.note_get(c, impl.request(c, operation, wire_format::make(Op::read, n), words, 16));
    }
  }
  return handle;
}

/// complete() for a source that is only read.
void write_as(const char* operation, std::uint64_t to, const void* from, std::size_t bytes) {
  complete(operation, to, const_cast<void*>(from), bytes, Transfer::write);
}

}  // namespace

void check_local(const char* operation, const void* local, std::size_t bytes) {
  if (local == nullptr)
    stop(errors::null_pointer, operation,
         "the local address is null: give it memory of this process, of " + std::to_string(bytes) +
             " bytes");
  if (bytes > kAddressMask) [[unlikely]]
    stop(errors::wild_pointer, operation,
         std::to_string(bytes) +
             " bytes are more than a process' memory has: the count is negative or too large");
}

Handle transfer(const char* operation, std::uint64_t word, void* local, std::size_t bytes,
                Transfer what) {
  Machine::Impl& impl = machine(operation).impl();
  light_poll();
  if (bytes == 0) return {};
  check_local(operation, local, bytes);
  const bool out = is_out(what);
  using Use = Machine::Impl::Use;
  const auto place = impl.locate(operation, word, bytes, out ? Use::writes : Use::reads);
  const std::uint32_t process = process_of(word);
  auto* const own = static_cast<std::byte*>(local);
  if (place.here != nullptr) {
    impl.count(kDirect);
    copy_here(out ? place.here : own, out ? own : place.here, bytes, process == hot.myproc);
    return {};
  }
  if (impl.rdma(process, place.region, address_of(word), own, bytes, out)) return {};
  const Handle handle = impl.one_sided(operation, word, own, bytes, what);
  return handle.ticket != 0 ? handle : by_message(impl, operation, word, own, bytes, out);
}

void complete(const char* operation, std::uint64_t word, void* local, std::size_t bytes,
              Transfer what) {
  Machine::Impl& impl = machine(operation).impl();
  impl.timed = {};
  const Handle handle = transfer(operation, word, local, bytes, what);
  const auto timed = std::exchange(impl.timed, {});
  if (handle.ticket != 0) impl.finish(operation, handle);
  if (timed.trial != nullptr) timed.trial->add(ticks_now() - timed.began);
}

std::uint64_t word_of(std::uint32_t process, const void* local) noexcept {
  Memory& memory = machine_in_call("toglobal").memory();
  if (process >= hot.procs) [[unlikely]]
    stop_no_process("toglobal", "the call", static_cast<std::int32_t>(process));
  return make_word(process, memory.globalize(local));
}

void* localize(std::uint64_t address) noexcept {
  return machine_in_call("tolocal").memory().localize(address);
}

void read_slow(std::uint64_t from, void* to, std::size_t bytes) {
  complete("read", from, to, bytes, Transfer::read);
}

void write_slow(std::uint64_t to, const void* from, std::size_t bytes) {
  write_as("write", to, from, bytes);
}

void write_fenced_slow(std::uint64_t to, const void* from, std::size_t bytes) {
  write_as("write_fenced", to, from, bytes);
}

Handle get_slow(void* to, std::uint64_t from, std::size_t bytes) {
  return transfer("get", from, to, bytes, Transfer::get);
}

Handle put_slow(std::uint64_t to, const void* from, std::size_t bytes) {
  return put_as("put", to, from, bytes);
}

void store_now_slow(std::uint64_t to, const void* from, std::size_t bytes) {
  (void)put_as("store_now", to, from, bytes);
}

}  // namespace detail

bool is_done(detail::Handle handle) {
  auto& impl = detail::machine("is_done").impl();
  if (impl.is_complete(handle)) return true;
  impl.look();
  return impl.is_complete(handle);
}

void wait(detail::Handle handle) { detail::machine("wait").impl().finish("wait", handle); }

}  // namespace viaduct::splitc
