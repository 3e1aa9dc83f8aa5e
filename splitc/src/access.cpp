/// Reads and writes that the inline paths do not take.

#include "viaduct/splitc/access.hpp"

#include <cstring>

#include "splitc/src/wait.hpp"
#include "viaduct/splitc/bulk.hpp"
#include "viaduct/splitc/store.hpp"

namespace viaduct::splitc {
namespace detail {

using wire_format::Op;

/// Values of a word's size are read and written in one piece; others have no such promise.
void copy_value(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  const auto aligned = [&](std::size_t n) {
    return bytes == n &&
           (reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) % n == 0;
  };
  if (aligned(8)) return store_word(to, load_word<std::uint64_t>(from));
  if (aligned(4)) return store_word(to, load_word<std::uint32_t>(from));
  if (aligned(2)) return store_word(to, load_word<std::uint16_t>(from));
  if (aligned(1)) return store_word(to, load_word<std::uint8_t>(from));
  std::memcpy(to, from, bytes);
}

namespace {

Handle message_get(Machine::Impl& impl, const char* operation, void* to, std::uint64_t from,
                   std::size_t bytes) {
  Channel& c = impl.channel(process_of(from), false, operation);
  const std::uint64_t words[] = {address_of(from), reinterpret_cast<std::uint64_t>(to)};
  return impl.note_get(
      c, impl.request(c, operation, wire_format::make(Op::read, static_cast<std::uint32_t>(bytes)),
                      words, 16));
}

Handle message_put(Machine::Impl& impl, const char* operation, std::uint64_t to, const void* from,
                   std::size_t bytes) {
  Channel& c = impl.channel(process_of(to), false, operation);
  std::uint64_t words[via::kWordsPerSlot] = {address_of(to)};
  std::memcpy(words + 1, from, bytes);
  return impl.note_put(c, impl.request(c, operation, wire_format::make(Op::write), words,
                                       static_cast<std::uint32_t>(8 + bytes)));
}

Handle begin_get(const char* operation, void* to, std::uint64_t from, std::size_t bytes) {
  Machine::Impl& impl = machine(operation).impl();
  if (bytes > kInlineData) return get_block(operation, to, from, bytes);
  const auto place = impl.locate(operation, from, bytes);
  light_poll();
  if (place.here != nullptr) {
    impl.count(kDirect);
    copy_value(static_cast<std::byte*>(to), place.here, bytes);
    return {};
  }
  if (impl.rdma(process_of(from), place.region, address_of(from), static_cast<std::byte*>(to),
                bytes, false))
    return {};
  const Handle handle =
      impl.one_sided(operation, from, static_cast<std::byte*>(to), bytes, OneSided::get);
  if (handle.ticket != 0) return handle;
  return message_get(impl, operation, to, from, bytes);
}

Handle begin_put(const char* operation, std::uint64_t to, const void* from, std::size_t bytes,
                 OneSided what = OneSided::put) {
  Machine::Impl& impl = machine(operation).impl();
  if (bytes > kInlineData) return put_block(operation, to, from, bytes, what);
  const auto place = impl.locate(operation, to, bytes);
  light_poll();
  if (place.here != nullptr) {
    impl.count(kDirect);
    copy_value(place.here, static_cast<const std::byte*>(from), bytes);
    return {};
  }
  auto* const source = const_cast<std::byte*>(static_cast<const std::byte*>(from));
  if (impl.rdma(process_of(to), place.region, address_of(to), source, bytes, true)) return {};
  const Handle handle = impl.one_sided(operation, to, source, bytes, what);
  if (handle.ticket != 0) return handle;
  return message_put(impl, operation, to, from, bytes);
}

}  // namespace

std::uint64_t word_of(std::uint32_t process, const void* local) noexcept {
  Memory& memory = machine_in_call("toglobal").memory();
  if (process >= hot.procs) [[unlikely]]
    stop_no_process("toglobal", "the call", static_cast<std::int32_t>(process));
  return make_word(process, memory.globalize(local));
}

void* localize(std::uint64_t address) noexcept {
  return machine_in_call("tolocal").memory().localize(address);
}

void read_as(const char* operation, std::uint64_t from, void* to, std::size_t bytes) {
  const Handle handle = begin_get(operation, to, from, bytes);
  if (handle.ticket != 0) machine(operation).impl().finish(operation, handle);
}

void read_slow(std::uint64_t from, void* to, std::size_t bytes) {
  read_as("read", from, to, bytes);
}

static void write_as(const char* operation, std::uint64_t to, const void* from, std::size_t bytes) {
  const Handle handle = begin_put(operation, to, from, bytes, OneSided::write);
  if (handle.ticket != 0) machine(operation).impl().finish(operation, handle);
}

void write_slow(std::uint64_t to, const void* from, std::size_t bytes) {
  write_as("write", to, from, bytes);
}

void write_fenced_slow(std::uint64_t to, const void* from, std::size_t bytes) {
  write_as("write_fenced", to, from, bytes);
}

Handle get_slow(void* to, std::uint64_t from, std::size_t bytes) {
  return begin_get("get", to, from, bytes);
}

Handle put_slow(std::uint64_t to, const void* from, std::size_t bytes) {
  return begin_put("put", to, from, bytes);
}

void store_now_slow(std::uint64_t to, const void* from, std::size_t bytes) {
  (void)begin_put("store_now", to, from, bytes);
}

}  // namespace detail

bool is_done(detail::Handle handle) {
  auto& impl = detail::machine("is_done").impl();
  if (impl.is_complete(handle)) return true;
  impl.poll_now();
  return impl.is_complete(handle);
}

void wait(detail::Handle handle) { detail::machine("wait").impl().finish("wait", handle); }

}  // namespace viaduct::splitc
