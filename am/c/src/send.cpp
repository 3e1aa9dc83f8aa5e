/// AM_RequestM, AM_RequestIM, AM_RequestXferM and AM_GetXferM, of all numbers of arguments.

#include "am/c/src/short_way.hpp"

namespace viaduct::am::c {
namespace {

using detail::ShortWay;

/// The answer of a call on @p port (null: none) that has nothing to send; AM_OK: it may send.
[[nodiscard, gnu::always_inline]] inline int refusal_of(const Port* port, int to,
                                                        handler_t handler) noexcept {
  if (port == nullptr) [[unlikely]]
    return no_object();
  if (!port->is_index(to) || !is_handler(handler)) [[unlikely]]
    return AM_ERR_BAD_ARG;
  return AM_OK;
}

/// Calls @p body for the endpoint that may send to @p to.
template <class Body>
[[gnu::always_inline]] inline int with_sender(ep_t ep, int to, handler_t handler,
                                              Body body) noexcept {
  if (is_in_handler()) [[unlikely]]
    return AM_ERR_IN_USE;
  const Call call(ep);
  if (const int refusal = refusal_of(call.port(), to, handler); refusal != AM_OK) [[unlikely]]
    return refusal;
  return body(*call.port(), static_cast<Index>(to));
}

/// The result of a send that was not accepted. A lost peer is reported to handler 0.
template <class M, class... Packed>
[[gnu::cold, gnu::noinline]] int not_sent(Status status, Port& port, Operation operation,
                                          Index index, std::size_t bytes, std::size_t offset,
                                          Packed... packed) noexcept {
  if (status == Status::retry) {
    poll_home(port);
    return AM_ERR_NOT_SENT;
  }
  if (status == Status::bad_state) return no_object();  // freed by another thread
  if (status != Status::peer_lost) return AM_ERR_BAD_ARG;
  const Cold cold;
  const auto words = M::Args::pack(packed...);
  port.returned(M::returned(Undeliverable::unreachable, operation, index,
                            port.translation_name(index).rank, words.data(), bytes, offset));
  return AM_OK;
}

/// The end of each call: the result of the send, and the poll that a send makes.
template <class M, class... Packed>
[[gnu::always_inline]] inline int answer(Status status, Port& port, Operation operation,
                                         Index index, std::size_t bytes, std::size_t offset,
                                         Packed... packed) noexcept {
  if (status != Status::ok) [[unlikely]]
    return not_sent<M>(status, port, operation, index, bytes, offset, packed...);
  poll_home(port);
  return AM_OK;
}

/// The rest of a request by the short path.
[[gnu::noinline]] int finish(Index to) noexcept {
  ShortWay::finish(*hot.port, to);
  return AM_OK;
}

template <class... I>
[[gnu::noinline]] int request_long(ep_t ep, int to, handler_t handler, I... args) noexcept {
  return with_sender(ep, to, handler, [&](Port& port, Index index) noexcept {
    return pack(
        handler,
        [&]<class M>(auto... packed) noexcept {
          const Status status = port.template request<&M::on_short>(index, packed...);
          return answer<M>(status, port, Operation::short_message, index, 0, 0, packed...);
        },
        args...);
  });
}

/// In a process with several threads.
template <class... I>
[[gnu::noinline]] int request_among_threads(ep_t ep, int to, handler_t handler,
                                            I... args) noexcept {
  using Done = ShortWay::Done;
  if (is_last(ep) && !is_in_handler() && is_handler(handler)) [[likely]] {
    Bundle& bundle = *ep->bundle.load(std::memory_order_relaxed);
    const auto find_alone = [ep, to]() noexcept -> Endpoint* {
      Port* const port = ep->port.load(std::memory_order_relaxed);
      return port != nullptr && port->is_index(to) && port->alone.load(std::memory_order_relaxed)
                 ? port
                 : nullptr;
    };
    const Done done = pack(
        handler,
        [&]<class M>(auto... packed) noexcept {
          if constexpr (ShortWay::kFits<&M::on_short>)
            return ShortWay::request_shared<&M::on_short>(bundle, find_alone,
                                                          static_cast<Index>(to), packed...);
          return Done::nothing;
        },
        args...);
    if (done == Done::sent_and_more) ShortWay::poll_further(bundle);
    if (done != Done::nothing) [[likely]]
      return AM_OK;
  }
  return request_long(ep, to, handler, args...);
}

template <class... I>
[[gnu::always_inline]] inline int request(ep_t ep, int to, handler_t handler, I... args) noexcept {
  using Done = ShortWay::Done;
  if (!viaduct::is_single_threaded()) [[unlikely]]
    return request_among_threads(ep, to, handler, args...);
  if (ep == hot.alone && !is_in_handler() && is_handler(handler)) [[likely]] {
    Port& port = *hot.port;
    if (port.is_index(to)) [[likely]] {
      const auto index = static_cast<Index>(to);
      const Done done = pack(
          handler,
          [&]<class M>(auto... packed) noexcept {
            if constexpr (ShortWay::kFits<&M::on_short>)
              return ShortWay::request<&M::on_short>(port, index, packed...);
            return Done::nothing;
          },
          args...);
      if (done == Done::sent) [[likely]]
        return AM_OK;
      if (done == Done::sent_and_more) return finish(index);
    }
  }
  return request_long(ep, to, handler, args...);
}

template <class... I>
int request_medium(ep_t ep, int to, handler_t handler, const void* from, std::size_t bytes,
                   I... args) noexcept {
  return with_sender(ep, to, handler, [&](Port& port, Index index) noexcept -> int {
    if (bytes > AM_MaxMedium() || (from == nullptr && bytes != 0)) return AM_ERR_BAD_ARG;
    const std::span data(static_cast<const std::byte*>(from), bytes);
    return pack(
        handler,
        [&]<class M>(auto... packed) noexcept {
          const Status status = port.template request_medium<&M::on_medium>(index, data, packed...);
          return answer<M>(status, port, Operation::medium, index, bytes, 0, packed...);
        },
        args...);
  });
}

template <bool Wait, class... I>
int request_bulk(ep_t ep, int to, std::size_t offset, handler_t handler, const void* from,
                 std::size_t bytes, I... args) noexcept {
  return with_sender(ep, to, handler, [&](Port& port, Index index) noexcept -> int {
    if (bytes > AM_MaxLong() || (from == nullptr && bytes != 0)) return AM_ERR_BAD_ARG;
    const std::span data(static_cast<const std::byte*>(from), bytes);
    return pack(
        handler,
        [&]<class M>(auto... packed) noexcept {
          Status status = Status::ok;
          if constexpr (Wait)
            status = port.template request_bulk<&M::on_bulk>(index, data, offset, packed...);
          else
            status = port.template try_request_bulk<&M::on_bulk>(index, data, offset, packed...);
          return answer<M>(status, port, Operation::bulk, index, bytes, offset, packed...);
        },
        args...);
  });
}

/// Where a get puts its data: an address is marked by the highest bit, and the next 16 are zero.
/// False: not in the segment, or null.
bool find_place(const Port& port, std::size_t to, std::size_t bytes, std::byte*& place) noexcept {
  if (to >> 48 == std::size_t{1} << 15) {
    place = reinterpret_cast<std::byte*>(to & ~(std::size_t{1} << 63));
    return place != nullptr || bytes == 0;
  }
  const std::span<std::byte> segment = port.segment();
  if (to > segment.size() || bytes > segment.size() - to) return false;
  place = segment.data() + to;
  return true;
}

template <bool Wait, class... I>
int get(ep_t ep, int from, std::size_t source, handler_t handler, std::size_t to, std::size_t bytes,
        I... args) noexcept {
  return with_sender(ep, from, handler, [&](Port& port, Index index) noexcept -> int {
    std::byte* place = nullptr;
    if (bytes > AM_MaxLong() || !find_place(port, to, bytes, place)) return AM_ERR_BAD_ARG;
    const std::span data(place, bytes);
    return pack(
        handler,
        [&]<class M>(auto... packed) noexcept {
          Status status = Status::ok;
          if constexpr (Wait)
            status = port.template get<&M::on_get>(index, data, source, packed...);
          else
            status = port.template try_get<&M::on_get>(index, data, source, packed...);
          return answer<M>(status, port, Operation::get, index, bytes, source, packed...);
        },
        args...);
  });
}

}  // namespace
}  // namespace viaduct::am::c

using namespace viaduct::am::c;

#define VIADUCT_AM_FORMS(M)                                                                     \
  extern "C" int AM_Request##M(ep_t ep, int to, handler_t handler VIADUCT_AM_P##M) {            \
    return request(ep, to, handler VIADUCT_AM_A##M);                                            \
  }                                                                                             \
  extern "C" int AM_RequestI##M(ep_t ep, int to, handler_t handler, const void* from,           \
                                size_t bytes VIADUCT_AM_P##M) {                                 \
    return request_medium(ep, to, handler, from, bytes VIADUCT_AM_A##M);                        \
  }                                                                                             \
  extern "C" int AM_RequestXfer##M(ep_t ep, int to, size_t offset, handler_t handler,           \
                                   const void* from, size_t bytes VIADUCT_AM_P##M) {            \
    return request_bulk<true>(ep, to, offset, handler, from, bytes VIADUCT_AM_A##M);            \
  }                                                                                             \
  extern "C" int AM_RequestXferAsync##M(ep_t ep, int to, size_t offset, handler_t handler,      \
                                        const void* from, size_t bytes VIADUCT_AM_P##M) {       \
    return request_bulk<false>(ep, to, offset, handler, from, bytes VIADUCT_AM_A##M);           \
  }                                                                                             \
  extern "C" int(AM_GetXfer##M)(ep_t ep, int from, size_t source, handler_t handler, size_t to, \
                                size_t bytes VIADUCT_AM_P##M) {                                 \
    return get<true>(ep, from, source, handler, to, bytes VIADUCT_AM_A##M);                     \
  }                                                                                             \
  extern "C" int(AM_GetXferAsync##M)(ep_t ep, int from, size_t source, handler_t handler,       \
                                     size_t to, size_t bytes VIADUCT_AM_P##M) {                 \
    return get<false>(ep, from, source, handler, to, bytes VIADUCT_AM_A##M);                    \
  }
#include "am/c/src/forms.hpp"
