/// Endpoints: set-up, tags, segments, handlers, translations.

#include <limits>
#include <memory>
#include <string>

#include "am/c/src/short_way.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::am::c {

Port::Port(Bundle& bundle, viaduct_am_bundle& home_bundle, ep_t slot, std::int32_t number)
    : Endpoint(bundle, kTagNone, number),
      translations(Endpoint::translations()),
      home(&home_bundle),
      handle(slot),
      name_in_c(to_c(name())) {
  set_undeliverable_handler([this](const Returned& r) { returned(r); });
}

namespace {

/// A bundle of Active Messages for a new endpoint. Throws Error.
Bundle& take_bundle(Library& lib) {
  if (!lib.free_bundles.empty()) {
    Bundle& bundle = *lib.free_bundles.back();
    lib.free_bundles.pop_back();
    viaduct::am::detail::ShortWay::bring_home(bundle);
    return bundle;
  }
  const auto threads = is_widened() ? Bundle::Threads::parallel : Bundle::Threads::sequential;
  lib.free_bundles.reserve(lib.bundles.size() + 1);  // destroy() needs no memory
  lib.bundles.push_back(std::make_unique<Bundle>(*lib.context, threads));
  if (threads == Bundle::Threads::parallel) lib.bundles.back()->set_poll_every(1);
  return *lib.bundles.back();
}

/// Number -1: any.
int allocate(eb_t home, ep_t* out, std::int32_t number) noexcept {
  if (is_in_handler()) return AM_ERR_IN_USE;
  const Cold cold;
  Library& lib = library();
  viaduct_am_bundle* const bundle = find(home);
  if (bundle == nullptr) return no_object();
  if (out == nullptr) return AM_ERR_BAD_ARG;
  viaduct_am_endpoint* const slot = lib.endpoint_table.allocate(
      [](const viaduct_am_endpoint& s) { return s.port.load() == nullptr; });
  if (slot == nullptr) return AM_ERR_RESOURCE;
  try {
    Bundle& own = take_bundle(lib);
    try {
      slot->bundle.store(&own);
      slot->port.store(new Port(own, *bundle, slot, number));
    } catch (...) {
      lib.free_bundles.push_back(&own);
      throw;
    }
  } catch (const std::system_error& e) {
    return e.code() == std::errc::address_in_use ? AM_ERR_IN_USE : AM_ERR_RESOURCE;
  } catch (const std::exception&) {
    return AM_ERR_RESOURCE;
  }
  enter_home(*slot->port.load(), *bundle);
  *out = slot;
  return AM_OK;
}

/// Writes a length to a size_t or an int, as the program has it.
void put_length(void* to, std::size_t bytes, std::size_t length) noexcept {
  if (bytes == sizeof(int))
    *static_cast<int*>(to) = static_cast<int>(
        std::min(length, static_cast<std::size_t>(std::numeric_limits<int>::max())));
  else
    *static_cast<std::size_t*>(to) = length;
}

/// The mapped index's entry in the form of the two queries.
template <class Body>
int with_translation(ep_t ea, int index, Body body) noexcept {
  return with_endpoint(ea, [&](Port& port) -> int {
    if (!port.is_index(index)) return AM_ERR_BAD_ARG;
    if (!port.is_mapped(static_cast<Index>(index))) return AM_ERR_RESOURCE;
    return body(port, static_cast<Index>(index));
  });
}

int result_of(Status status) noexcept {
  switch (status) {
    case Status::ok:
      return AM_OK;
    case Status::bad_state:
      return AM_ERR_IN_USE;
    default:
      return AM_ERR_BAD_ARG;
  }
}

}  // namespace
}  // namespace viaduct::am::c

using namespace viaduct::am::c;
using viaduct::Status;
using viaduct::am::Index;

extern "C" {

int viaduct_am_allocate_endpoint(eb_t bundle, ep_t* endp, void* name, int form, int port) {
  if (port < -1 || port > 0xffff || (form != 0 && name == nullptr))
    return library().initialised == 0 ? AM_ERR_NOT_INIT : AM_ERR_BAD_ARG;
  const int result = allocate(bundle, endp, port);
  if (result != AM_OK) return result;
  en_t& own = (*endp)->port.load()->name_in_c;
  if (form == 1) *static_cast<en_t*>(name) = own;
  if (form == 2) *static_cast<en_t**>(name) = &own;
  return AM_OK;
}

int(AM_AllocateEndpoint)(eb_t bundle, ep_t* endp, en_t* name) {
  return viaduct_am_allocate_endpoint(bundle, endp, name, 1, -1);
}

int(AM_AllocateKnownEndpoint)(eb_t bundle, ep_t* endp, en_t* name, int port) {
  return viaduct_am_allocate_endpoint(bundle, endp, name, 1, port < 0 ? -2 : port);
}

int AM_FreeEndpoint(ep_t ea) {
  if (is_in_handler()) return AM_ERR_IN_USE;
  return free_when_left([ea]() -> Freeing {
    Port* const port = find(ea);
    if (port == nullptr) return {no_object()};
    return {AM_OK, try_destroy(*port) ? nullptr : port};
  });
}

int AM_MoveEndpoint(ep_t ea, eb_t from_bundle, eb_t to_bundle) {
  if (is_in_handler()) return AM_ERR_IN_USE;
  return with_endpoint(ea, [&](Port& port) -> int {
    viaduct_am_bundle* const from = find(from_bundle);
    viaduct_am_bundle* const to = find(to_bundle);
    if (from == nullptr || to == nullptr || port.home.load() != from) return AM_ERR_BAD_ARG;
    leave_home(port);
    enter_home(port, *to);
    // A thread may wait in the new bundle. The event of the old one may be of this endpoint.
    if (!viaduct::is_single_threaded() || from->event.load()) to->event.store(true);
    return AM_OK;
  });
}

int AM_SetExpectedResources(ep_t ea, int n_endpoints, int n_outstanding_requests) {
  return with_endpoint(ea, [&](Port& port) -> int {
    if (n_endpoints < 0 || n_outstanding_requests < 0) return AM_ERR_BAD_ARG;
    return static_cast<std::uint32_t>(n_endpoints) > port.translations ? AM_ERR_RESOURCE : AM_OK;
  });
}

int AM_SetTag(ep_t ea, tag_t tag) {
  return with_endpoint(ea, [&](Port& port) {
    port.set_tag(tag);
    return AM_OK;
  });
}

int AM_GetTag(ep_t ea, tag_t* tag) {
  return with_endpoint(ea, [&](Port& port) -> int {
    if (tag == nullptr) return AM_ERR_BAD_ARG;
    *tag = port.tag();
    return AM_OK;
  });
}

int AM_SetSeg(ep_t ea, void* addr, size_t nbytes) {
  return with_endpoint(ea, [&](Port& port) -> int {
    const auto limit = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
    if ((addr == nullptr && nbytes != 0) || nbytes > limit) return AM_ERR_BAD_ARG;
    port.set_segment({static_cast<std::byte*>(addr), nbytes});
    return AM_OK;
  });
}

int viaduct_am_get_seg(ep_t ea, void* addr, void* nbytes, size_t bytes) {
  return with_endpoint(ea, [&](Port& port) -> int {
    if (addr == nullptr || nbytes == nullptr) return AM_ERR_BAD_ARG;
    *static_cast<void**>(addr) = port.segment().data();
    put_length(nbytes, bytes, port.segment().size());
    return AM_OK;
  });
}

int(AM_GetSeg)(ep_t ea, void* addr, size_t* nbytes) {
  return viaduct_am_get_seg(ea, addr, nbytes, sizeof(size_t));
}

int viaduct_am_max_seg_length(void* nbytes, size_t bytes) {
  if (nbytes == nullptr) return AM_ERR_BAD_ARG;
  put_length(nbytes, bytes, static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()));
  return AM_OK;
}

int(AM_MaxSegLength)(size_t* nbytes) { return viaduct_am_max_seg_length(nbytes, sizeof(size_t)); }

// Translations.

int AM_Map(ep_t ea, int index, en_t name, tag_t tag) {
  return with_endpoint(ea, [&](Port& port) -> int {
    if (!port.is_index(index) || !is_name(name)) return AM_ERR_BAD_ARG;
    return result_of(port.map(static_cast<Index>(index), from_c(name), tag));
  });
}

int AM_MapAny(ep_t ea, int* index, en_t name, tag_t tag) {
  return with_endpoint(ea, [&](Port& port) -> int {
    if (index == nullptr || !is_name(name)) return AM_ERR_BAD_ARG;
    for (std::uint32_t i = 0; i < port.translations; ++i) {
      if (port.is_mapped(Index{i})) continue;
      const int result = result_of(port.map(Index{i}, from_c(name), tag));
      if (result == AM_OK) *index = static_cast<int>(i);
      return result;
    }
    return AM_ERR_RESOURCE;
  });
}

int AM_UnMap(ep_t ea, int index) {
  if (is_in_handler()) return AM_ERR_IN_USE;
  const Call call(ea);  // unmap() waits, so no lock is held
  Port* const port = call.port();
  if (port == nullptr) return no_object();
  if (!port->is_index(index)) return AM_ERR_BAD_ARG;
  const Status status = port->unmap(static_cast<Index>(index));
  return status == Status::bad_state ? no_object() : result_of(status);
}

int AM_Unmap(ep_t ea, int index) { return AM_UnMap(ea, index); }

int AM_GetTranslationInuse(ep_t ea, int index) {
  return with_translation(ea, index, [](Port&, Index) { return AM_OK; });
}

int AM_GetTranslationTag(ep_t ea, int index, tag_t* tag) {
  if (tag == nullptr) return no_object() == AM_ERR_NOT_INIT ? AM_ERR_NOT_INIT : AM_ERR_BAD_ARG;
  return with_translation(ea, index, [&](Port& port, Index i) {
    *tag = port.translation_tag(i);
    return AM_OK;
  });
}

int AM_GetTranslationName(ep_t ea, int index, en_t* name) {
  if (name == nullptr) return no_object() == AM_ERR_NOT_INIT ? AM_ERR_NOT_INIT : AM_ERR_BAD_ARG;
  return with_translation(ea, index, [&](Port& port, Index i) {
    *name = to_c(port.translation_name(i));
    return AM_OK;
  });
}

int AM_MaxNumTranslations(int* ntrans) {
  if (ntrans == nullptr) return AM_ERR_BAD_ARG;
  *ntrans = kMaxTranslations;
  return AM_OK;
}

int AM_GetNumTranslations(ep_t ea, int* ntrans) {
  return with_endpoint(ea, [&](Port& port) -> int {
    if (ntrans == nullptr) return AM_ERR_BAD_ARG;
    *ntrans = static_cast<int>(port.translations);
    return AM_OK;
  });
}

int AM_SetNumTranslations(ep_t ea, int ntrans) {
  return with_endpoint(ea, [&](Port& port) -> int {
    if (ntrans < 1) return AM_ERR_BAD_ARG;
    const auto count = static_cast<std::uint32_t>(ntrans);
    if (count > kMaxTranslations) return AM_ERR_RESOURCE;
    for (std::uint32_t i = count; i < port.translations; ++i)
      if (port.is_mapped(Index{i})) return AM_ERR_RESOURCE;
    port.set_translations(count);
    port.translations = count;
    return AM_OK;
  });
}

// Handlers.

int(AM_SetHandler)(ep_t ea, handler_t handler, AM_Handler function) {
  return with_endpoint(ea, [&](Port& port) -> int {
    const auto at = static_cast<std::uint32_t>(handler);
    if (at >= port.handlers || function == nullptr) return AM_ERR_BAD_ARG;
    port.set_handler(at, function);
    return AM_OK;
  });
}

int(AM_SetHandlerAny)(ep_t ea, handler_t* handler, AM_Handler function) {
  return with_endpoint(ea, [&](Port& port) -> int {
    if (handler == nullptr || function == nullptr) return AM_ERR_BAD_ARG;
    for (std::uint32_t i = 1; i < port.handlers; ++i) {
      if (port.handler(i) != nullptr || port.declared(i) != nullptr) continue;
      port.set_handler(i, function);
      *handler = static_cast<handler_t>(i);
      return AM_OK;
    }
    return AM_ERR_RESOURCE;
  });
}

int(AM_SetHandlerArgs)(ep_t ea, handler_t handler, AM_Handler function, int with_data,
                       int numargs) {
  return with_endpoint(ea, [&](Port& port) -> int {
    const auto at = static_cast<std::uint32_t>(handler);
    if (at == 0 || at >= port.handlers || function == nullptr || numargs < 0 ||
        numargs > AM_MaxShort())
      return AM_ERR_BAD_ARG;
    port.declare_handler(at, function, {static_cast<std::uint8_t>(numargs), with_data != 0});
    return AM_OK;
  });
}

int AM_GetNumHandlers(ep_t ea, int* n_handlers) {
  return with_endpoint(ea, [&](Port& port) -> int {
    if (n_handlers == nullptr) return AM_ERR_BAD_ARG;
    *n_handlers = static_cast<int>(port.handlers);
    return AM_OK;
  });
}

int AM_SetNumHandlers(ep_t ea, int n_handlers) {
  return with_endpoint(ea, [&](Port& port) -> int {
    if (n_handlers < 1) return AM_ERR_BAD_ARG;
    const auto count = static_cast<std::uint32_t>(n_handlers);
    if (count > kMaxHandlers) return AM_ERR_RESOURCE;
    for (std::uint32_t i = count; i < port.handlers; ++i) port.set_handler(i, nullptr);
    port.handlers = count;
    return AM_OK;
  });
}

}  // extern "C"
