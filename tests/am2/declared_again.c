/* Programs declare functions of AM-2 themselves as well, as was usual before prototypes. Compiled
 * only. */
#include <am.h>

extern int AM_Poll();
extern int AM_WaitSema();
extern int AM_Request4();
extern int AM_RequestMedium4();
/* Macros. */
extern int AM_AllocateEndpoint();
extern int AM_AllocateKnownEndpoint();
extern int AM_SetHandler();
extern int AM_SetHandlerAny();
extern int AM_SetHandlerArgs();
extern int AM_GetSeg();
extern int AM_MaxSegLength();
extern int AM_GetEventMask();
extern int AM_GetXfer0();
extern int AM_GetXferAsync16();
extern int AM_GetXferAsynch3();

/* With parameters, plain functions only; macros in brackets, as those that are constants always. */
extern int AM_Poll(eb_t bundle);
extern int AM_Map(ep_t ea, int index, en_t name, tag_t tag);
extern int(AM_SetHandler)(ep_t ea, handler_t handler, AM_Handler function);
extern int(AM_MaxShort)(void);
#undef AM_MaxMedium
extern int AM_MaxMedium(void);

static void handler(void* token, int a) {
  (void)token;
  (void)a;
}

int calls(eb_t bundle, ep_t* ep, en_t** name, char* data);
int calls(eb_t bundle, ep_t* ep, en_t** name, char* data) {
  size_t bytes;
  int n = 0, few;
  n += AM_AllocateEndpoint(bundle, ep) + AM_AllocateEndpoint(bundle, ep, name);
  n += AM_AllocateKnownEndpoint(bundle, ep, 7) + AM_AllocateKnownEndpoint(bundle, ep, name, 7);
  n += AM_SetHandler(*ep, 1, handler) + AM_SetHandlerAny(*ep, &few, handler);
  n += AM_SetHandlerArgs(*ep, 1, handler, 0, 1);
  n += AM_MaxSegLength(&few) + AM_MaxSegLength((size_t*)data) + AM_MaxSegLength((&bytes));
  n += AM_GetEventMask(bundle) + AM_GetEventMask((eb_t)data) + AM_GetEventMask((bundle), &few);
  n += AM_GetSeg(*ep, &data, &few) + AM_GetSeg((ep_t)data, &data, &bytes);
  n += AM_GetXfer0((ep_t)data, 0, 0, 1, data, 9) + AM_GetXferAsynch3(*ep, 0, 0, 1, 64, 9, 1, 2, 3);
  return n + AM_Poll(bundle) + AM_MaxMedium();
}
