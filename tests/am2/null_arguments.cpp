// Every function of AM-2 that is overloaded or a macro, with NULL, 0 and nullptr: each is one
// function's, so that old programs compile as C++, too. Compiled only.

#include <am.h>
#include <am_spmd.h>

#include <cstddef>

int allocate(eb_t b, ep_t* e, en_t* name, en_t** names);
int allocate(eb_t b, ep_t* e, en_t* name, en_t** names) {
  int n = AM_AllocateEndpoint(b, e) + AM_AllocateEndpoint(b, e, name) +
          AM_AllocateEndpoint(b, e, names) + AM_AllocateKnownEndpoint(b, e, 3) +
          AM_AllocateKnownEndpoint(b, e, name, 3) + AM_AllocateKnownEndpoint(b, e, names, 3);
  n += AM_AllocateEndpoint(b, e, NULL) + AM_AllocateEndpoint(b, e, 0) +
       AM_AllocateEndpoint(b, e, nullptr) + AM_AllocateEndpoint(NULL, NULL, NULL) +
       AM_AllocateEndpoint(0, 0, 0) + AM_AllocateEndpoint(NULL, NULL);
  n += AM_AllocateKnownEndpoint(b, e, NULL, 3) + AM_AllocateKnownEndpoint(b, e, 0, 3) +
       AM_AllocateKnownEndpoint(b, e, nullptr, 3) + AM_AllocateKnownEndpoint(b, e, 0);
  return n;
}

int segments_and_masks(eb_t b, ep_t e);
int segments_and_masks(eb_t b, ep_t e) {
  std::size_t bytes = 0;
  int few = 0;
  int n = AM_GetSeg(e, NULL, &bytes) + AM_GetSeg(e, NULL, &few) + AM_GetSeg(e, NULL, NULL) +
          AM_GetSeg(e, 0, 0) + AM_GetSeg(e, nullptr, nullptr);
  n += AM_MaxSegLength(&bytes) + AM_MaxSegLength(&few) + AM_MaxSegLength(NULL) +
       AM_MaxSegLength(0) + AM_MaxSegLength(nullptr);
  n += AM_GetEventMask(b) + AM_GetEventMask(b, &few) + AM_GetEventMask(b, NULL) +
       AM_GetEventMask(b, 0) + AM_GetEventMask(b, nullptr) + AM_GetEventMask(NULL) +
       AM_GetEventMask(0) + AM_GetEventMask(nullptr);
  return n;
}

// Where a get puts its data: nullptr is an address, as NULL is in C.
static_assert(VIADUCT_AM_IS_ADDRESS(nullptr) && VIADUCT_AM_IS_ADDRESS(static_cast<void*>(nullptr)),
              "a null address");
static_assert(!VIADUCT_AM_IS_ADDRESS(NULL) && !VIADUCT_AM_IS_ADDRESS(0), "the offset 0");

int handlers_and_messages(ep_t e);
int handlers_and_messages(ep_t e) {
  int n = AM_SetHandler(e, 0, NULL) + AM_SetHandler(e, 0, 0) + AM_SetHandler(e, 0, nullptr);
  n += AM_SetHandlerAny(e, NULL, NULL) + AM_SetHandlerAny(e, 0, 0) +
       AM_SetHandlerAny(e, nullptr, nullptr);
  n += AM_SetHandlerArgs(e, 0, NULL, 0, 0) + AM_SetHandlerArgs(e, 0, 0, 0, 0) +
       AM_SetHandlerArgs(e, 0, nullptr, 0, 0);
  n += AM_GetXfer0(e, 0, 0, 1, NULL, 0) + AM_GetXfer0(e, 0, 0, 1, 0, 0) +
       AM_GetXfer0(e, 0, 0, 1, nullptr, 0) + AM_GetXferAsynch1(e, 0, 0, 1, NULL, 0, 5);
  n += AM_RequestI0(e, 0, 1, NULL, 0) + AM_RequestMedium1(e, 0, 1, nullptr, 0, 3) +
       AM_RequestXfer0(e, 0, 0, 1, 0, 0) + AM_RequestLongAsync0(e, 0, 0, 1, NULL, 0);
  n += AMX_SPMDStartup(NULL, NULL, 0, NULL, NULL, NULL) + AMX_SPMDSetExitCallback(NULL);
  return n;
}
