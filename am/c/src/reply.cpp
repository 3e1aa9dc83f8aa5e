/// AM_ReplyM, AM_ReplyIM, AM_ReplyXferM, and the questions of handlers about their messages.

#include "am/c/am_spmd.h"
#include "am/c/src/short_way.hpp"

namespace viaduct::am::c {
namespace {

using detail::ShortWay;

/// The request that may be replied to now, or null.
[[nodiscard]] inline Token* request_of(void* token, handler_t handler) noexcept {
  if (token == nullptr || token != current) [[unlikely]]
    return nullptr;
  auto* const request = static_cast<Token*>(token);
  return is_handler(handler) && request->can_reply() ? request : nullptr;
}

[[nodiscard]] int result_of(Status status) noexcept {
  return status == Status::bad_argument ? AM_ERR_BAD_ARG : AM_OK;  // a requester may be gone
}

template <class... I>
[[gnu::noinline]] int reply_long(void* token, handler_t handler, I... args) noexcept {
  const Nested nested;
  Token* const request = request_of(token, handler);
  if (request == nullptr) [[unlikely]]
    return no_object();
  return pack(
      handler,
      [&]<class M>(auto... packed) noexcept {
        request->template reply<&M::on_short>(packed...);
        return AM_OK;
      },
      args...);
}

/// The rest of a reply by the short path.
[[gnu::cold, gnu::noinline]] int finish(Token& request) noexcept {
  ShortWay::finish(request);
  return AM_OK;
}

template <class... I>
[[gnu::always_inline]] inline int reply(void* token, handler_t handler, I... args) noexcept {
  using Done = ShortWay::Done;
  if (token != nullptr && token == current && is_handler(handler)) [[likely]] {
    Token& request = *static_cast<Token*>(token);
    const Done done = pack(
        handler,
        [&]<class M>(auto... packed) noexcept {
          if constexpr (ShortWay::kFits<&M::on_short>)
            return ShortWay::reply<&M::on_short>(request, packed...);
          return Done::nothing;
        },
        args...);
    if (done == Done::sent) [[likely]]
      return AM_OK;
    if (done == Done::sent_and_more) return finish(request);
  }
  return reply_long(token, handler, args...);
}

template <class... I>
int reply_medium(void* token, handler_t handler, const void* from, std::size_t bytes,
                 I... args) noexcept {
  const Nested nested;
  Token* const request = request_of(token, handler);
  if (request == nullptr) return no_object();
  if (bytes > AM_MaxMedium())
    return result_of(ShortWay::refuse_length(*request, bytes, AM_MaxMedium(), "AM_MaxMedium()"));
  const std::span data(static_cast<const std::byte*>(from), bytes);
  return pack(
      handler,
      [&]<class M>(auto... packed) noexcept {
        return result_of(request->template reply_medium<&M::on_medium>(data, packed...));
      },
      args...);
}

template <class... I>
int reply_bulk(void* token, std::size_t offset, handler_t handler, const void* from,
               std::size_t bytes, I... args) noexcept {
  const Nested nested;
  Token* const request = request_of(token, handler);
  if (request == nullptr) return no_object();
  if (bytes > AM_MaxLong())
    return result_of(ShortWay::refuse_length(*request, bytes, AM_MaxLong(), "AM_MaxLong()"));
  const std::span data(static_cast<const std::byte*>(from), bytes);
  return pack(
      handler,
      [&]<class M>(auto... packed) noexcept {
        return result_of(request->template reply_bulk<&M::on_bulk>(data, offset, packed...));
      },
      args...);
}

/// Calls @p of_message with the token of the handler that runs, or @p of_returned with the argument
/// of handler 0.
template <class OfMessage, class OfReturned>
int ask(void* token, const void* answer, OfMessage of_message, OfReturned of_returned) noexcept {
  if (token == nullptr || answer == nullptr || current == nullptr) return no_object();
  if (token == current) {
    of_message(*static_cast<const Token*>(token));
    return AM_OK;
  }
  if (current != returning_mark() || token != returned_block) return AM_ERR_BAD_ARG;
  of_returned(*returned_block);
  return AM_OK;
}

}  // namespace
}  // namespace viaduct::am::c

using namespace viaduct::am::c;

extern "C" {

int AM_GetSourceEndpoint(void* token, en_t* name) {
  return ask(
      token, name, [&](const viaduct::am::Token& t) { *name = to_c(t.source_name()); },
      [&](const AM_ArgBlock& block) {
        if (AM_GetTranslationName(block.request_endpoint, block.reply_endpoint, name) != AM_OK)
          *name = block.request_endpoint->port.load()->name_in_c;
      });
}

int AM_GetDestEndpoint(void* token, ep_t* endp) {
  return ask(
      token, endp, [&](const viaduct::am::Token& t) { *endp = port_of(t).handle; },
      [&](const AM_ArgBlock& block) { *endp = block.request_endpoint; });
}

int AM_GetMsgTag(void* token, tag_t* tag) {
  return ask(
      token, tag, [&](const viaduct::am::Token& t) { *tag = t.tag(); },
      [&](const AM_ArgBlock& block) {
        if (AM_GetTranslationTag(block.request_endpoint, block.reply_endpoint, tag) != AM_OK)
          *tag = block.request_endpoint->port.load()->tag();
      });
}

int AMX_GetSourceId(void* token, int* index) {
  return ask(
      token, index,
      [&](const viaduct::am::Token& t) { *index = static_cast<int>(value(t.source())); },
      [&](const AM_ArgBlock& block) { *index = block.reply_endpoint; });
}

}  // extern "C"

#define VIADUCT_AM_FORMS(M)                                                                       \
  extern "C" int AM_Reply##M(void* token, handler_t handler VIADUCT_AM_P##M) {                    \
    return reply(token, handler VIADUCT_AM_A##M);                                                 \
  }                                                                                               \
  extern "C" int AM_ReplyI##M(void* token, handler_t handler, const void* from,                   \
                              size_t bytes VIADUCT_AM_P##M) {                                     \
    return reply_medium(token, handler, from, bytes VIADUCT_AM_A##M);                             \
  }                                                                                               \
  extern "C" int AM_ReplyXfer##M(void* token, size_t offset, handler_t handler, const void* from, \
                                 size_t bytes VIADUCT_AM_P##M) {                                  \
    return reply_bulk(token, offset, handler, from, bytes VIADUCT_AM_A##M);                       \
  }
#include "am/c/src/forms.hpp"
