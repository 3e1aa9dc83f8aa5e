/* The forms in which public programs of AM-2 call it. Compiled, and run by misuse.c's rules. */
#include <am.h>
#include <am_spmd.h>

static void plain(void* token, int a, int b, int c, int d) {
  (void)token;
  (void)(a + b + c + d);
}
static void medium(void* token, void* buf, int nbytes, int a) {
  (void)token;
  (void)buf;
  (void)(nbytes + a);
}
static void error_handler(int status, op_t opcode, void* argblock) {
  (void)argblock;
  (void)(status + opcode);
}

static char sized[AM_MaxMedium() + AM_MaxShort()];

int forms(eb_t bundle, en_t name, en_t** names);
int forms(eb_t bundle, en_t name, en_t** names) {
  ea_t ep;
  handler_t h;
  void* at;
  char* text;
  int n = 0, mask = 0;
  size_t bytes;
  int (*request)(ep_t, int, handler_t, int, int, int, int) = AM_Request4;
  int (*wait)(eb_t) = AM_WaitSema;
  n += AM_AllocateEndpoint(bundle, &ep, &name);
  n += AM_AllocateEndpoint(bundle, &ep, names);
#ifndef C89_FORMS
  n += AM_AllocateEndpoint(bundle, &ep);
  n += AM_AllocateKnownEndpoint(bundle, &ep, 7);
  n += AM_AllocateKnownEndpoint(bundle, &ep, names, 7);
  n += AM_GetEventMask(bundle);
  n += AM_GetXfer4(ep, 0, 0, 1, sized, 10, 1, 2, 3, 4);
  n += AM_GetXferAsynch4(ep, 0, 0, 1, &n, sizeof n, 1, 2, 3, 4);
#endif
  n += AM_AllocateKnownEndpoint(bundle, &ep, &name, 7);
  n += AM_GetEventMask(bundle, &mask);
  n += AM_SetHandler(ep, 0, error_handler);
  n += AM_SetHandler(ep, 1, plain);
  n += AM_SetHandlerAny(ep, &h, medium);
  n += AM_GetSeg(ep, &at, &n);
  n += AM_GetSeg(ep, &text, &bytes);
  n += AM_MaxSegLength(&n) + AM_MaxSegLength(&bytes);
  n += AM_Request4(ep, 0, 1, 1, 2, 3, 4) + request(ep, 0, 1, 1, 2, 3, 4);
  n += AM_RequestMedium4(ep, 0, h, sized, 10, 1, 2, 3, 4);
  n += AM_RequestLong4(ep, 0, 0, h, sized, sizeof sized, 1, 2, 3, 4);
  n += AM_RequestLongAsync8(ep, 0, 0, h, "text", 5, 1, 2, 3, 4, 5, 6, 7, 8);
  n += AM_GetXfer4(ep, 0, 0, h, 64, 10, 1, 2, 3, 4);
  n += AM_WaitSema(bundle) + AM_Wait(bundle) + wait(bundle);
  (void)names;
  return n;
}
