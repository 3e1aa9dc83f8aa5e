/* Every function with every wrong argument that it can tell, in one process: the documented code,
   and no crash. */
#include "tests/am2/rig.h"

static Rig rig;
static char data[64];

#define BAD(call) WANT(AM_ERR_BAD_ARG, call)
#define UNBORN(call) WANT(AM_ERR_NOT_INIT, call)

/* Calls with EP as the endpoint, all else right where it can be. */
#define EVERY_CALL_ON_AN_ENDPOINT(HOW, EP)              \
  do {                                                  \
    int n_;                                             \
    tag_t tag_;                                         \
    en_t name_ = rig.b_name;                            \
    void* at_;                                          \
    size_t bytes_;                                      \
    handler_t h_;                                       \
    HOW(AM_FreeEndpoint(EP));                           \
    HOW(AM_MoveEndpoint(EP, rig.bundle, rig.bundle));   \
    HOW(AM_SetExpectedResources(EP, 1, 1));             \
    HOW(AM_SetTag(EP, 1));                              \
    HOW(AM_GetTag(EP, &tag_));                          \
    HOW(AM_SetSeg(EP, data, sizeof data));              \
    HOW(AM_GetSeg(EP, &at_, &bytes_));                  \
    HOW(AM_GetSeg(EP, &at_, &n_));                      \
    HOW(AM_Map(EP, 5, name_, TAG));                     \
    HOW(AM_MapAny(EP, &n_, name_, TAG));                \
    HOW(AM_UnMap(EP, 0));                               \
    HOW(AM_Unmap(EP, 0));                               \
    HOW(AM_GetTranslationInuse(EP, 0));                 \
    HOW(AM_GetTranslationTag(EP, 0, &tag_));            \
    HOW(AM_GetTranslationName(EP, 0, &name_));          \
    HOW(AM_GetNumTranslations(EP, &n_));                \
    HOW(AM_SetNumTranslations(EP, 100));                \
    HOW(AM_SetHandler(EP, 1, on_returned));             \
    HOW(AM_SetHandlerAny(EP, &h_, on_returned));        \
    HOW(AM_SetHandlerArgs(EP, 1, on_returned, 0, 2));   \
    HOW(AM_GetNumHandlers(EP, &n_));                    \
    HOW(AM_SetNumHandlers(EP, 100));                    \
    HOW(AM_Request0(EP, 0, 1));                         \
    HOW(AM_Request4(EP, 0, 1, 1, 2, 3, 4));             \
    HOW(AM_RequestI1(EP, 0, 1, data, 1, 1));            \
    HOW(AM_RequestXfer1(EP, 0, 0, 1, data, 1, 1));      \
    HOW(AM_RequestXferAsync1(EP, 0, 0, 1, data, 1, 1)); \
    HOW(AM_GetXfer1(EP, 0, 0, 1, 0, 1, 1));             \
    HOW(AM_GetXferAsync1(EP, 0, 0, 1, 0, 1, 1));        \
  } while (0)

#define EVERY_CALL_ON_A_BUNDLE(HOW, EB)                 \
  do {                                                  \
    int mask_;                                          \
    ep_t ep_;                                           \
    en_t name_;                                         \
    HOW(AM_FreeBundle(EB));                             \
    HOW(AM_Poll(EB));                                   \
    HOW(AM_SetEventMask(EB, AM_NOTEMPTY));              \
    HOW(AM_GetEventMask(EB, &mask_));                   \
    HOW(AM_WaitSema(EB));                               \
    HOW(AM_Wait(EB));                                   \
    HOW(AM_AllocateEndpoint(EB, &ep_, &name_));         \
    HOW(AM_AllocateKnownEndpoint(EB, &ep_, &name_, 9)); \
  } while (0)

#define EVERY_CALL_ON_A_TOKEN(HOW, TOKEN)        \
  do {                                           \
    en_t name_;                                  \
    ep_t ep_;                                    \
    tag_t tag_;                                  \
    int id_;                                     \
    HOW(AM_GetSourceEndpoint(TOKEN, &name_));    \
    HOW(AM_GetDestEndpoint(TOKEN, &ep_));        \
    HOW(AM_GetMsgTag(TOKEN, &tag_));             \
    HOW(AMX_GetSourceId(TOKEN, &id_));           \
    HOW(AM_Reply0(TOKEN, 1));                    \
    HOW(AM_Reply4(TOKEN, 1, 1, 2, 3, 4));        \
    HOW(AM_ReplyI1(TOKEN, 1, data, 1, 1));       \
    HOW(AM_ReplyXfer1(TOKEN, 0, 1, data, 1, 1)); \
  } while (0)

/* A value that is no handle of any kind, as each of them. Four pieces: a compiler takes long for
   one large function of so many calls. */
static void as_endpoint(void* wrong) { EVERY_CALL_ON_AN_ENDPOINT(BAD, (ep_t)wrong); }
static void as_bundle(void* wrong) {
  EVERY_CALL_ON_A_BUNDLE(BAD, (eb_t)wrong);
  BAD(AM_MoveEndpoint(rig.a, (eb_t)wrong, rig.bundle));
  BAD(AM_MoveEndpoint(rig.a, rig.bundle, (eb_t)wrong));
}
static void as_token(void* wrong) { EVERY_CALL_ON_A_TOKEN(BAD, wrong); }

static void wrong_everywhere(void* wrong) {
  as_endpoint(wrong);
  as_bundle(wrong);
  as_token(wrong);
}

static void before_init(void) {
  eb_t eb;
  UNBORN(AM_Terminate());
  UNBORN(AM_AllocateBundle(AM_SEQ, &eb));
  EVERY_CALL_ON_AN_ENDPOINT(UNBORN, NULL);
  EVERY_CALL_ON_A_BUNDLE(UNBORN, NULL);
  EVERY_CALL_ON_A_TOKEN(UNBORN, NULL);
  EVERY_CALL_ON_AN_ENDPOINT(UNBORN, (ep_t)(void*)data);
  EVERY_CALL_ON_A_BUNDLE(UNBORN, (eb_t)(void*)data);
  EVERY_CALL_ON_A_TOKEN(UNBORN, data);
  UNBORN(AMX_SPMDBarrier());
  UNBORN(AMX_SPMDAllGather(data, data, 1));
  UNBORN(AMX_SPMDExit(0));
  CHECK(AMX_SPMDMyProc() == 0 && AMX_SPMDNumProcs() == 1);
}

static void nulls(void) {
  ep_t ep;
  void* at;
  BAD(AM_AllocateBundle(AM_SEQ, NULL));
  BAD(AM_AllocateEndpoint(rig.bundle, NULL, &rig.a_name));
  BAD(AM_AllocateEndpoint(rig.bundle, &ep, NULL));
  BAD(AM_AllocateKnownEndpoint(rig.bundle, NULL, &rig.a_name, 9));
  BAD(AM_AllocateKnownEndpoint(rig.bundle, &ep, NULL, 9));
  BAD(AM_GetEventMask(rig.bundle, NULL));
  BAD(AM_GetTag(rig.a, NULL));
  BAD(AM_SetSeg(rig.a, NULL, 1));
  BAD(AM_GetSeg(rig.a, &at, NULL));
  BAD(AM_GetSeg(rig.a, NULL, &failures));
  BAD(AM_MaxSegLength(NULL));
  BAD(AM_MapAny(rig.a, NULL, rig.b_name, TAG));
  BAD(AM_GetTranslationTag(rig.a, 0, NULL));
  BAD(AM_GetTranslationName(rig.a, 0, NULL));
  BAD(AM_MaxNumTranslations(NULL));
  BAD(AM_GetNumTranslations(rig.a, NULL));
  BAD(AM_SetHandler(rig.a, 1, NULL));
  BAD(AM_SetHandlerAny(rig.a, NULL, on_returned));
  BAD(AM_SetHandlerArgs(rig.a, 1, NULL, 0, 2));
  BAD(AM_GetNumHandlers(rig.a, NULL));
  BAD(AM_RequestI0(rig.a, 0, 1, NULL, 1));
  BAD(AM_RequestXfer0(rig.a, 0, 0, 1, NULL, 1));
  BAD(AM_RequestXferAsync0(rig.a, 0, 0, 1, NULL, 1));
  BAD(AMX_SPMDStartup(NULL, NULL, 0, NULL, NULL, &ep));
  CHECK(AMX_SPMDgetenvMaster(NULL) == NULL);
}

static void bad_index(int index) {
  tag_t tag;
  en_t name;
  BAD(AM_Map(rig.a, index, rig.b_name, TAG));
  BAD(AM_UnMap(rig.a, index));
  BAD(AM_GetTranslationInuse(rig.a, index));
  BAD(AM_GetTranslationTag(rig.a, index, &tag));
  BAD(AM_GetTranslationName(rig.a, index, &name));
  BAD(AM_Request0(rig.a, index, 1));
  BAD(AM_RequestI0(rig.a, index, 1, data, 1));
  BAD(AM_RequestXfer0(rig.a, index, 0, 1, data, 1));
  BAD(AM_RequestXferAsync0(rig.a, index, 0, 1, data, 1));
  BAD(AM_GetXfer0(rig.a, index, 0, 1, 0, 1));
  BAD(AM_GetXferAsync0(rig.a, index, 0, 1, 0, 1));
}

static void bad_handler(int handler) {
  BAD(AM_Request0(rig.a, 0, handler));
  BAD(AM_RequestI0(rig.a, 0, handler, data, 1));
  BAD(AM_RequestXfer0(rig.a, 0, 0, handler, data, 1));
  BAD(AM_RequestXferAsync0(rig.a, 0, 0, handler, data, 1));
  BAD(AM_GetXfer0(rig.a, 0, 0, handler, 0, 1));
  if (handler != 0) BAD(AM_SetHandler(rig.a, handler, on_returned));
  BAD(AM_SetHandlerArgs(rig.a, handler, on_returned, 0, 2));
}

static void bad_values(void) {
  eb_t eb;
  ep_t ep;
  en_t name;
  en_t none = rig.b_name;
  int n;
  bad_index(-1);
  bad_index(1 << 20);
  bad_index(-2147483647 - 1);
  bad_handler(0);
  bad_handler(-1);
  bad_handler(256);
  bad_handler(257);
  BAD(AM_AllocateBundle(2, &eb));
  BAD(AM_AllocateBundle(-1, &eb));
  BAD(AM_AllocateKnownEndpoint(rig.bundle, &ep, &name, -1));
  BAD(AM_AllocateKnownEndpoint(rig.bundle, &ep, &name, 65536));
  BAD(AM_SetEventMask(rig.bundle, 2));
  BAD(AM_SetEventMask(rig.bundle, -1));
  BAD(AM_SetExpectedResources(rig.a, -1, 1));
  BAD(AM_SetExpectedResources(rig.a, 1, -1));
  WANT(AM_ERR_RESOURCE, AM_SetExpectedResources(rig.a, 1 << 20, 1));
  OK(AM_SetExpectedResources(rig.a, 2, 100));
  BAD(AM_SetSeg(rig.a, data, (size_t)-1));
  none.port = 65536;
  BAD(AM_Map(rig.a, 5, none, TAG));
  BAD(AM_MapAny(rig.a, &n, none, TAG));
  BAD(AM_SetNumTranslations(rig.a, 0));
  BAD(AM_SetNumTranslations(rig.a, -5));
  BAD(AM_SetNumHandlers(rig.a, 0));
  BAD(AM_SetNumHandlers(rig.a, -5));
  BAD(AM_RequestI0(rig.a, 0, 1, data, (size_t)AM_MaxMedium() + 1));
  BAD(AM_RequestI0(rig.a, 0, 1, data, (size_t)-1));
  BAD(AM_RequestXfer0(rig.a, 0, 0, 1, data, (size_t)AM_MaxLong() + 1));
  BAD(AM_RequestXferAsync0(rig.a, 0, 0, 1, data, (size_t)-1));
  BAD(AM_GetXfer0(rig.a, 0, 0, 1, 0, (size_t)-1));
  BAD(AM_GetXfer0(rig.a, 0, 0, 1, SEGMENT, 1));
  BAD(AM_GetXfer0(rig.a, 0, 0, 1, (size_t)-1, 1));
  BAD(AMX_SPMDStartup(NULL, NULL, -1, NULL, &eb, &ep));
}

/* --- in handlers ----------------------------------------------------------------------------- */

static void* old_token;
static int ran;

static void not_in_a_handler(void) {
  eb_t eb;
  ep_t ep;
  en_t name;
#define USED(call) WANT(AM_ERR_IN_USE, call)
  USED(AM_Init());
  USED(AM_Terminate());
  USED(AM_AllocateBundle(AM_SEQ, &eb));
  USED(AM_FreeBundle(rig.bundle));
  USED(AM_Poll(rig.bundle));
  USED(AM_WaitSema(rig.bundle));
  USED(AM_AllocateEndpoint(rig.bundle, &ep, &name));
  USED(AM_AllocateKnownEndpoint(rig.bundle, &ep, &name, 9));
  USED(AM_FreeEndpoint(rig.a));
  USED(AM_MoveEndpoint(rig.a, rig.bundle, rig.bundle));
  USED(AM_UnMap(rig.a, 0));
  USED(AM_Request0(rig.a, 0, 1));
  USED(AM_Request0(rig.b, 0, 1));
  USED(AM_RequestI0(rig.a, 0, 1, data, 1));
  USED(AM_RequestXfer0(rig.a, 0, 0, 1, data, 1));
  USED(AM_RequestXferAsync0(rig.a, 0, 0, 1, data, 1));
  USED(AM_GetXfer0(rig.a, 0, 0, 1, 0, 1));
  USED(AM_GetXferAsync0(rig.a, 0, 0, 1, 0, 1));
  USED(AMX_SPMDBarrier());
}

static void on_message(void* token) {
  en_t name;
  size_t bytes;
  void* at;
  ++ran;
  not_in_a_handler();
  as_token(NULL);
  as_token(data);
  as_token(rig.a);
  as_token((char*)token + 8);
  if (old_token != token) as_token(old_token);
  BAD(AM_GetSourceEndpoint(token, NULL));
  BAD(AM_GetDestEndpoint(token, NULL));
  BAD(AM_GetMsgTag(token, NULL));
  BAD(AM_Reply0(token, 0));
  BAD(AM_Reply0(token, 256));
  BAD(AM_Reply0(token, -1));
  BAD(AM_ReplyI0(token, 300, data, 1));
  BAD(AM_ReplyXfer0(token, 0, -2, data, 1));
  /* These may be called. */
  OK(AM_GetSeg(rig.a, &at, &bytes));
  OK(AM_SetHandler(rig.a, 50, on_returned));
  OK(AM_GetTranslationName(rig.a, 0, &name));
  OK(AM_Map(rig.a, 30 + ran, name, TAG));
  OK(AM_Reply0(token, 2));
  BAD(AM_Reply0(token, 2));
  BAD(AM_ReplyI0(token, 2, data, 1));
  BAD(AM_ReplyXfer0(token, 0, 2, data, 1));
  old_token = token;
}

static void on_reply(void* token) {
  ++ran;
  not_in_a_handler();
  BAD(AM_Reply0(token, 2));
  BAD(AM_ReplyI0(token, 2, data, 1));
  BAD(AM_ReplyXfer0(token, 0, 2, data, 1));
}

static void on_return(int status, op_t opcode, void* argblock) {
  en_t name;
  ep_t ep;
  tag_t tag;
  (void)status;
  (void)opcode;
  ++ran;
  not_in_a_handler();
  as_token(data);
  as_token(NULL);
  BAD(AM_Reply0(argblock, 2));
  OK(AM_GetSourceEndpoint(argblock, &name));
  OK(AM_GetDestEndpoint(argblock, &ep));
  OK(AM_GetMsgTag(argblock, &tag));
  CHECK(ep == rig.a && tag == TAG && AMX_enEqual(name, rig.b_name));
}

static void in_handlers(void) {
  OK(AM_SetHandler(rig.b, 1, on_message));
  OK(AM_SetHandler(rig.a, 2, on_reply));
  OK(AM_Request0(rig.a, 0, 1));
  poll_until(rig.bundle, &ran, 2);
  OK(AM_Request0(rig.a, 0, 1));
  poll_until(rig.bundle, &ran, 4);
  as_token(old_token); /* none runs now */
  OK(AM_SetHandler(rig.a, 0, on_return));
  OK(AM_Request0(rig.a, 0, 99));
  poll_until(rig.bundle, &ran, 5);
}

/* --- too many -------------------------------------------------------------------------------- */

static void too_many(void) {
  static eb_t bundles[5000];
  static ep_t endpoints[5000];
  eb_t bundle;
  ep_t endpoint;
  en_t name;
  int n, result = AM_OK, i;
  for (n = 0; n < 5000 && result == AM_OK; ++n) result = AM_AllocateBundle(AM_SEQ, &bundles[n]);
  CHECK(result == AM_ERR_RESOURCE && n > 4000);
  WANT(AM_ERR_RESOURCE, AMX_SPMDStartup(NULL, NULL, 0, NULL, &bundle, &endpoint));
  for (i = 0; i < n - 1; ++i) OK(AM_FreeBundle(bundles[i]));
  BAD(AM_Poll(bundles[0]));
  BAD(AM_FreeBundle(bundles[0]));
  for (i = 0; i < 64; ++i) OK(AM_AllocateBundle(AM_SEQ, &bundles[i]));
  for (n = 0, result = AM_OK; n < 5000 && result == AM_OK; ++n)
    result = AM_AllocateEndpoint(bundles[n % 64], &endpoints[n], &name);
  CHECK(result == AM_ERR_RESOURCE);
  --n;
  CHECK(n + 2 == 4095);      /* with those of the rig */
  for (i = 0; i < 5000; ++i) /* it gives back what it has made */
    WANT(AM_ERR_RESOURCE, AMX_SPMDStartup(NULL, NULL, 0, NULL, &bundle, &endpoint));
  OK(AM_AllocateBundle(AM_SEQ, &bundle));
  OK(AM_FreeBundle(bundle));
  for (i = 0; i < n; ++i) OK(AM_FreeEndpoint(endpoints[i]));
  for (i = 0; i < n; ++i) BAD(AM_FreeEndpoint(endpoints[i]));
  for (i = 0; i < 64; ++i) OK(AM_FreeBundle(bundles[i]));
  for (i = 0; i < 5000; ++i) { /* more than there are at a time */
    OK(AM_AllocateEndpoint(rig.bundle, &endpoints[0], &name));
    OK(AM_FreeEndpoint(endpoints[0]));
  }
}

int main(void) {
  static int something[64];
  eb_t freed;
  ep_t freed_endpoint;
  en_t name;
  setbuf(stdout, NULL);
  before_init();
  OK(AM_Init());
  open_rig(&rig);
  OK(AM_AllocateBundle(AM_PAR, &freed));
  OK(AM_AllocateEndpoint(freed, &freed_endpoint, &name));
  OK(AM_FreeBundle(freed)); /* with what is in it */
  wrong_everywhere(NULL);
  wrong_everywhere(something);
  wrong_everywhere((void*)~0UL);
  wrong_everywhere((void*)1);
  wrong_everywhere((char*)rig.a + 1);
  wrong_everywhere(freed);
  wrong_everywhere(freed_endpoint);
  as_endpoint(rig.bundle);
  as_bundle(rig.a);
  as_endpoint((char*)rig.a + 64 * 100);
  as_endpoint((char*)rig.a - 64 * 100);
  nulls();
  bad_values();
  in_handlers();
  too_many();
  OK(AM_Terminate());
  UNBORN(AM_FreeEndpoint(rig.a));
  EVERY_CALL_ON_AN_ENDPOINT(UNBORN, rig.a);
  EVERY_CALL_ON_A_BUNDLE(UNBORN, rig.bundle);
  EVERY_CALL_ON_A_TOKEN(UNBORN, old_token);
  return finish();
}
