/// Blocks of data: one copy where the memory is mapped, staged pieces where messages carry them.

#include "viaduct/splitc/bulk.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/errors/codes.hpp"
#include "splitc/src/wait.hpp"
#include "via/copy.hpp"
#include "viaduct/splitc/store.hpp"

namespace viaduct::splitc::detail {

using wire_format::Op;

namespace {

/// The next block of @p stage, free; polls until it is.
std::uint32_t take_block(Machine::Impl& impl, Stage& stage, const char* operation) {
  const std::uint32_t i = stage.next();
  Stage::Block& block = stage[i];
  const auto is_free = [&] {
    // A block that is fetched into ends with its reply; one that is sent, when it has been handled.
    if (block.channel != nullptr &&
        (block.channel->ended ||
         (block.to == nullptr && impl.is_handled(*block.channel, block.ticket))))
      block.channel = nullptr;
    return block.channel == nullptr;
  };
  if (!is_free()) impl.wait(operation, block.channel->process, is_free);
  stage.advance();
  return i;
}

/// One block_write or block_store for each piece. Answers the last one's ticket.
/// @p stored: the client word of a store; null: the pieces are written.
std::uint64_t send_pieces(Machine::Impl& impl, Channel& c, const char* operation,
                          const std::uint64_t* stored, std::uint64_t to, const std::byte* from,
                          std::size_t bytes) {
  std::uint64_t ticket = 0;
  Stage& stage = impl.stage_of(c);
  for (std::size_t at = 0; at < bytes; at += kBlockBytes) {
    const std::size_t n = std::min(kBlockBytes, bytes - at);
    const std::uint32_t i = take_block(impl, stage, operation);
    std::memcpy(stage.data(i), from + at, n);
    c.channel->forward_extra(stage.data(i), n);
    const std::uint64_t words[] = {address_of(to) + at, n, stage.offset(i)};
    const std::uint64_t client =
        stored != nullptr ? *stored : wire_format::make(Op::block_write, i);
    ticket = impl.request(c, operation, client, words, 24);
    stage[i] = {&c, ticket, nullptr, static_cast<std::uint32_t>(n)};
  }
  return ticket;
}

Handle get_pieces(Machine::Impl& impl, Channel& c, const char* operation, std::byte* to,
                  std::uint64_t from, std::size_t bytes) {
  Handle handle;
  Stage& stage = impl.stage_of(c);
  for (std::size_t at = 0; at < bytes; at += kBlockBytes) {
    const std::size_t n = std::min(kBlockBytes, bytes - at);
    const std::uint32_t i = take_block(impl, stage, operation);
    const std::uint64_t words[] = {address_of(from) + at, n, stage.offset(i)};
    stage[i] = {&c, c.sent + 1, to + at, static_cast<std::uint32_t>(n)};
    handle = impl.note_get(
        c, impl.request(c, operation, wire_format::make(Op::block_read, i), words, 24));
  }
  return handle;
}

void check_local(const char* operation, const void* local, std::size_t bytes) {
  if (local == nullptr)
    stop(errors::null_pointer, operation,
         "the local address is null: give it memory of this process, of " + std::to_string(bytes) +
             " bytes");
}

}  // namespace

Handle get_block(const char* operation, void* to, std::uint64_t from, std::size_t bytes) {
  Machine::Impl& impl = machine(operation).impl();
  light_poll();
  if (bytes == 0) return {};
  check_local(operation, to, bytes);
  const auto place = impl.locate(operation, from, bytes);
  const std::uint32_t process = process_of(from);
  if (place.here != nullptr) {
    impl.count(kDirect);
    if (process == hot.myproc)
      std::memmove(to, place.here, bytes);
    else
      via::copy_bytes(to, place.here, bytes);
    return {};
  }
  if (impl.rdma(process, place.region, address_of(from), static_cast<std::byte*>(to), bytes, false))
    return {};
  const Handle handle =
      impl.one_sided(operation, from, static_cast<std::byte*>(to), bytes, OneSided::get);
  if (handle.ticket != 0) return handle;
  Channel& c = impl.channel(process, true, operation);
  return get_pieces(impl, c, operation, static_cast<std::byte*>(to), from, bytes);
}

Handle put_block(const char* operation, std::uint64_t to, const void* from, std::size_t bytes,
                 OneSided what) {
  Machine::Impl& impl = machine(operation).impl();
  light_poll();
  if (bytes == 0) return {};
  check_local(operation, from, bytes);
  const auto place = impl.locate(operation, to, bytes);
  const std::uint32_t process = process_of(to);
  if (place.here != nullptr) {
    impl.count(kDirect);
    if (process == hot.myproc)
      std::memmove(place.here, from, bytes);
    else
      via::copy_bytes(place.here, from, bytes);
    return {};
  }
  auto* const source = static_cast<std::byte*>(const_cast<void*>(from));
  if (impl.rdma(process, place.region, address_of(to), source, bytes, true)) return {};
  const Handle handle = impl.one_sided(operation, to, source, bytes, what);
  if (handle.ticket != 0) return handle;
  Channel& c = impl.channel(process, true, operation);
  return impl.note_put(c, send_pieces(impl, c, operation, nullptr, to, source, bytes));
}

void bulk_read(void* to, std::uint64_t from, std::size_t bytes) {
  const Handle handle = get_block("bulk_read", to, from, bytes);
  if (handle.ticket != 0) machine("bulk_read").impl().finish("bulk_read", handle);
}

void bulk_write(std::uint64_t to, const void* from, std::size_t bytes) {
  const Handle handle = put_block("bulk_write", to, from, bytes, OneSided::write);
  if (handle.ticket != 0) machine("bulk_write").impl().finish("bulk_write", handle);
}

Handle bulk_get(void* to, std::uint64_t from, std::size_t bytes) {
  return get_block("bulk_get", to, from, bytes);
}

Handle bulk_put(std::uint64_t to, const void* from, std::size_t bytes) {
  return put_block("bulk_put", to, from, bytes);
}

void bulk_store_now(std::uint64_t to, const void* from, std::size_t bytes) {
  (void)put_block("bulk_store_now", to, from, bytes);
}

/// Small ones go in a line, middling ones through the stage; the target fetches large ones itself.
void store_block(const char* operation, std::uint64_t to, const void* from, std::size_t bytes,
                 std::uint32_t count) {
  Machine::Impl& impl = machine(operation).impl();
  if (bytes <= kInlineData) {
    if (bytes == 0) return light_poll();
    check_local(operation, from, bytes);
    return store_value(operation, to, from, bytes, count);
  }
  light_poll();
  check_local(operation, from, bytes);
  const std::uint32_t process = process_of(to);
  const auto place = impl.locate(operation, to, process == hot.myproc ? bytes : 1);
  impl.count(kStores);
  if (process == hot.myproc) {
    std::memmove(place.here, from, bytes);
    impl.delivered[count] += bytes;
    return;
  }
  // The channel of all stores, also where other blocks have their own: they arrive in the order of
  // the calls.
  Channel& c = impl.channel(process, false, operation);
  impl.note_store(c);
  if (bytes > kBlockBytes && impl.path != Path::message && c.stage == nullptr &&
      machine(operation).memory().is_shared(from, bytes)) {
    const std::uint64_t words[] = {address_of(to), bytes,
                                   machine(operation).memory().globalize(from)};
    const std::uint64_t ticket =
        impl.request(c, operation, wire_format::make_store(Op::pull, count), words, 24);
    return impl.finish(operation, {ticket, process, c.index, 0});
  }
  const std::uint64_t client = wire_format::make_store(Op::block_store, count);
  (void)send_pieces(impl, c, operation, &client, to, static_cast<const std::byte*>(from), bytes);
}

void bulk_store(std::uint64_t to, const void* from, std::size_t bytes) {
  constexpr const char* kOperation = "bulk_store";
  store_block(kOperation, to, from, bytes, machine(kOperation).impl().epoch);
}

void bulk_store_on(std::uint64_t to, const void* from, std::size_t bytes, std::uint32_t count) {
  store_block("bulk_store", to, from, bytes, count);
}

}  // namespace viaduct::splitc::detail
