/* The rules of AM-2's translations, handler tables, segments, names, bundles and events, one case
   each, in one process. rules.c has those of messages. */
#include "tests/am2/ordered.h"
#include "tests/am2/rig.h"

static Rig rig;
static unsigned char pattern[8];

/* --- translations ---------------------------------------------------------------------------- */

static void translations(void) {
  int n = 0, i = -1, most = 0;
  tag_t tag = 0;
  en_t name, none;
  none.ip_addr = 1000000;
  none.port = 0;
  OK(AM_GetNumTranslations(rig.a, &n));
  CHECK(n >= 256);
  OK(AM_MaxNumTranslations(&most));
  CHECK(most >= n);
  OK(AM_SetNumTranslations(rig.a, most));
  OK(AM_GetNumTranslations(rig.a, &n));
  CHECK(n == most);
  OK(AM_Map(rig.a, most - 1, rig.b_name, TAG));
  WANT(AM_ERR_RESOURCE, AM_SetNumTranslations(rig.a, most - 1));
  OK(AM_UnMap(rig.a, most - 1));
  OK(AM_SetNumTranslations(rig.a, 300));
  WANT(AM_ERR_BAD_ARG, AM_Map(rig.a, 300, rig.b_name, TAG));
  WANT(AM_ERR_BAD_ARG, AM_Request0(rig.a, 300, 1));
  WANT(AM_ERR_RESOURCE, AM_SetNumTranslations(rig.a, most + 1));
  OK(AM_MapAny(rig.a, &i, rig.b_name, TAG));
  CHECK(i == 2);
  OK(AM_GetTranslationInuse(rig.a, i));
  OK(AM_GetTranslationTag(rig.a, i, &tag));
  OK(AM_GetTranslationName(rig.a, i, &name));
  CHECK(tag == TAG && AMX_enEqual(name, rig.b_name));
  WANT(AM_ERR_IN_USE, AM_Map(rig.a, i, rig.b_name, TAG));
  WANT(AM_ERR_IN_USE, AM_Map(rig.a, 3, rig.b_name, TAG + 1)); /* under another tag */
  OK(AM_Unmap(rig.a, i));
  WANT(AM_ERR_RESOURCE, AM_GetTranslationInuse(rig.a, i));
  WANT(AM_ERR_RESOURCE, AM_GetTranslationTag(rig.a, i, &tag));
  WANT(AM_ERR_RESOURCE, AM_GetTranslationName(rig.a, i, &name));
  WANT(AM_ERR_BAD_ARG, AM_UnMap(rig.a, i));
  WANT(AM_ERR_BAD_ARG, AM_Map(rig.a, i, none, TAG));
  OK(AM_SetNumTranslations(rig.a, 2));
  WANT(AM_ERR_RESOURCE, AM_MapAny(rig.a, &i, rig.b_name, TAG));
  OK(AM_SetNumTranslations(rig.a, 1024));
}

/* --- handlers and segments ------------------------------------------------------------------- */

static void handlers(void) {
  handler_t h = -1;
  int n = 0, i;
  ep_t fresh;
  en_t name;
  OK(AM_AllocateEndpoint(rig.bundle, &fresh, &name));
  CHECK(AM_MaxNumHandlers() == 256);
  OK(AM_GetNumHandlers(fresh, &n));
  CHECK(n == 256);
  OK(AM_SetHandlerAny(fresh, &h, on_ordered));
  CHECK(h == 1);
  OK(AM_SetHandler(fresh, 2, on_ordered));
  OK(AM_SetHandlerAny(fresh, &h, on_ordered));
  CHECK(h == 3);
  for (i = 4; i < 256; ++i) OK(AM_SetHandlerAny(fresh, &h, on_ordered));
  CHECK(h == 255);
  WANT(AM_ERR_RESOURCE, AM_SetHandlerAny(fresh, &h, on_ordered));
  WANT(AM_ERR_RESOURCE, AM_SetNumHandlers(fresh, 257));
  OK(AM_SetNumHandlers(fresh, 10));
  WANT(AM_ERR_BAD_ARG, AM_SetHandler(fresh, 10, on_ordered));
  OK(AM_FreeEndpoint(fresh));
}

static void segments(void) {
  void* at = &at;
  size_t bytes = 0, most = 0;
  ep_t fresh;
  en_t name;
  OK(AM_AllocateEndpoint(rig.bundle, &fresh, &name));
  OK(AM_GetSeg(fresh, &at, &bytes));
  CHECK(at == NULL && bytes == 0);
  OK(AM_GetSeg(rig.a, &at, &bytes));
  CHECK(at == rig.a_segment && bytes == SEGMENT);
  OK(AM_MaxSegLength(&most));
  CHECK(most >= SEGMENT);
  OK(AM_FreeEndpoint(fresh));
}

/* --- names ----------------------------------------------------------------------------------- */

static void known_names(void) {
  ep_t one, two;
  en_t name, other;
  OK(AM_AllocateKnownEndpoint(rig.bundle, &one, &name, 61114));
  CHECK(name.port == 61114);
  CHECK(!AMX_enEqual(name, rig.a_name));
  WANT(AM_ERR_IN_USE, AM_AllocateKnownEndpoint(rig.bundle, &two, &other, 61114));
  other.ip_addr = name.ip_addr; /* made up by the program */
  other.port = 61114;
  OK(AM_SetTag(one, 9));
  OK(AM_SetHandler(one, 1, on_ordered));
  OK(AM_Map(rig.a, 20, other, 9));
  ordered = 0;
  OK(AM_Request1(rig.a, 20, 1, 0));
  poll_until(rig.bundle, &ordered, 1);
  OK(AM_FreeEndpoint(one));
  RETURNS(EBADENDPOINT, AM_REQUEST_M, 1, 1, AM_Request1(rig.a, 20, 1, 0));
  OK(AM_UnMap(rig.a, 20));
  OK(AM_AllocateKnownEndpoint(rig.bundle, &one, &name, 61114)); /* it is free again */
  OK(AM_FreeEndpoint(one));
}

/* A transfer to an endpoint that was freed is told so, and not that the segment is too short. */
static void freed_segments(void) {
  static unsigned char segment[64];
  int kind;
  for (kind = 0; kind < 2; ++kind) {
    ep_t one;
    en_t name;
    OK(AM_AllocateEndpoint(rig.bundle, &one, &name));
    OK(AM_SetTag(one, 9));
    OK(AM_SetHandler(one, 1, on_ordered));
    OK(AM_SetSeg(one, segment, sizeof segment));
    OK(AM_Map(rig.a, 20, name, 9));
    ordered = 0;
    OK(AM_Request1(rig.a, 20, 1, 0));
    poll_until(rig.bundle, &ordered, 1);
    OK(AM_FreeEndpoint(one));
    if (kind == 0)
      RETURNS(EBADENDPOINT, AM_REQUEST_XFER_M, 2, 1,
              AM_RequestXfer1(rig.a, 20, 0, 2, rig.a_segment, sizeof segment, 0));
    else
      RETURNS(EBADENDPOINT, AM_GET_XFER_M, 2, 1,
              AM_GetXfer1(rig.a, 20, 0, 2, 0, sizeof segment, 0));
    OK(AM_UnMap(rig.a, 20));
  }
}

/* --- bundles --------------------------------------------------------------------------------- */

static void moving(void) {
  eb_t other, third;
  ep_t ep = NULL;
  size_t bytes;
  void* at;
  int mask = -1;
  OK(AM_AllocateBundle(AM_PAR, &other));
  OK(AM_AllocateBundle(AM_SEQ, &third));
  ordered = 0;
  OK(AM_Request1(rig.a, 0, 1, 0)); /* under way while the endpoint moves */
  OK(AM_MoveEndpoint(rig.b, rig.bundle, other));
  OK(AM_Poll(other));
  WANT(AM_ERR_BAD_ARG, AM_MoveEndpoint(rig.b, rig.bundle, other));
  WANT(AM_ERR_BAD_ARG, AM_MoveEndpoint(rig.b, third, rig.bundle));
  OK(AM_FreeBundle(third));
  OK(AM_Request1(rig.a, 0, 1, 0));
  OK(AM_Poll(rig.bundle));
  poll_until(other, &ordered, 2);
  OK(AM_GetSeg(rig.b, &at, &bytes));
  CHECK(at == rig.b_segment);
  OK(AM_GetEventMask(other, &mask));
  CHECK(mask == AM_NOEVENTS);
  OK(AM_MoveEndpoint(rig.b, other, rig.bundle));
  OK(AM_FreeBundle(other));
  OK(AM_Request1(rig.a, 0, 1, 0));
  poll_until(rig.bundle, &ordered, 3);
  (void)ep;
}

static int counted;
static void on_count(void* token) {
  ++counted;
  OK(AM_Reply0(token, 9));
}
static int echoed;
static void on_echo(void* token) {
  (void)token;
  ++echoed;
}

/* A wait returns while there is a message, and AM_Poll runs its handler. */
static void events(void) {
  eb_t far;
  int mask = -1, i;
  OK(AM_SetHandler(rig.b, 8, on_count));
  OK(AM_SetHandler(rig.a, 9, on_echo));
  OK(AM_AllocateBundle(AM_SEQ, &far));
  WANT(AM_ERR_RESOURCE, AM_WaitSema(rig.bundle)); /* no events */
  OK(AM_SetEventMask(rig.bundle, AM_NOTEMPTY));
  OK(AM_SetEventMask(far, AM_NOTEMPTY));
  OK(AM_GetEventMask(rig.bundle, &mask));
  CHECK(mask == AM_NOTEMPTY);
  OK(AM_MoveEndpoint(rig.b, rig.bundle, far));
  for (i = 0; i < 100; ++i) {
    counted = echoed = 0;
    OK(AM_Request0(rig.a, 0, 8));
    OK(AM_WaitSema(far));
    CHECK(counted == 0);
    OK(AM_WaitSema(far)); /* it is there still */
    OK(AM_Poll(far));
    CHECK(counted == 1);
    OK(AM_WaitSema(rig.bundle));
    OK(AM_Poll(rig.bundle));
    CHECK(echoed == 1);
  }
  OK(AM_MoveEndpoint(rig.b, far, rig.bundle));
  counted = 0;
  OK(AM_Request0(rig.a, 0, 8)); /* the second endpoint of a bundle */
  while (counted == 0) {
    OK(AM_Wait(rig.bundle));
    OK(AM_Poll(rig.bundle));
  }
  /* A request polls: it may have handled itself and its reply, and the wait is not for more. */
  for (i = 0; i < 100; ++i) {
    counted = 0;
    OK(AM_Request0(rig.a, 0, 8));
    OK(AM_WaitSema(rig.bundle));
    OK(AM_Poll(rig.bundle));
    CHECK(counted == 1);
    while (echoed < i + 3) OK(AM_Poll(rig.bundle));
  }
  OK(AM_SetEventMask(rig.bundle, AM_NOEVENTS));
  OK(AM_FreeBundle(far));
}

/* Handlers that have run in a request's own poll are an event of the bundle that the endpoint has
   come to. */
static void event_moves(void) {
  eb_t far;
  int sent = 0;
  OK(AM_AllocateBundle(AM_SEQ, &far));
  OK(AM_SetEventMask(far, AM_NOTEMPTY));
  OK(AM_SetHandler(rig.a, 8, on_count));
  OK(AM_SetHandler(rig.a, 9, on_echo));
  echoed = 0;
  OK(AM_Request0(rig.a, 1, 8));
  poll_until(rig.bundle, &echoed, 1);
  echoed = 0;
  do {
    OK(AM_Request0(rig.a, 1, 8));
    ++sent;
  } while (sent < 64 && echoed != sent);
  CHECK(echoed == sent); /* nothing is left to wait for */
  OK(AM_MoveEndpoint(rig.a, rig.bundle, far));
  OK(AM_WaitSema(far));
  OK(AM_MoveEndpoint(rig.a, far, rig.bundle));
  OK(AM_FreeBundle(far));
}

/* --- asynchronous ---------------------------------------------------------------------------- */

/* A receiver that does not poll, and room for so many: the rest is not sent. */
static void asynchronous(void) {
  eb_t far;
  int sent = 0, result = AM_OK, i;
  OK(AM_AllocateBundle(AM_SEQ, &far));
  OK(AM_MoveEndpoint(rig.b, rig.bundle, far));
  ordered = 0;
  for (i = 0; i < 100000 && result == AM_OK; ++i) {
    result = AM_RequestXferAsync1(rig.a, 0, 0, 2, pattern, 8, i);
    if (result == AM_OK) ++sent;
  }
  CHECK(result == AM_ERR_NOT_SENT);
  CHECK(sent > 0 && sent < 100000);
  OK(AM_MoveEndpoint(rig.b, far, rig.bundle));
  OK(AM_FreeBundle(far));
  poll_until(rig.bundle, &ordered, sent);
  do {
    result = AM_RequestXferAsync1(rig.a, 0, 0, 2, pattern, 8, 0);
    OK(AM_Poll(rig.bundle));
  } while (result == AM_ERR_NOT_SENT);
  OK(result);
  poll_until(rig.bundle, &ordered, sent + 1);
}

/* --- start and end --------------------------------------------------------------------------- */

static void again(void) {
  Rig second;
  OK(AM_Init());
  OK(AM_Terminate()); /* the first AM_Init still holds */
  open_rig(&second);
  OK(AM_SetHandler(second.b, 1, on_ordered));
  ordered = 0;
  OK(AM_Request1(second.a, 0, 1, 0));
  poll_until(second.bundle, &ordered, 1);
  OK(AM_Terminate());
  WANT(AM_ERR_NOT_INIT, AM_Poll(second.bundle));
  WANT(AM_ERR_NOT_INIT, AM_Request0(second.a, 0, 1));
  WANT(AM_ERR_NOT_INIT, AM_Terminate());
  OK(AM_Init());
  WANT(AM_ERR_BAD_ARG, AM_Poll(second.bundle));
  free(second.a_segment);
  free(second.b_segment);
  open_rig(&second);
  OK(AM_SetHandler(second.b, 1, on_ordered));
  OK(AM_Request1(second.a, 0, 1, 0));
  poll_until(second.bundle, &ordered, 2);
  close_rig(&second);
}

int main(void) {
  setbuf(stdout, NULL);
  OK(AM_Init());
  open_rig(&rig);
  translations();
  handlers();
  segments();
  known_names();
  freed_segments();
  OK(AM_SetHandler(rig.b, 1, on_ordered));
  OK(AM_SetHandler(rig.b, 2, on_ordered_medium));
  moving();
  events();
  event_moves();
  asynchronous();
  close_rig(&rig);
  again();
  OK(AM_Terminate());
  return finish();
}
