/* The rules of AM-2, each a case, in one process. */
#include "tests/am2/forms.h"
#include "tests/am2/ordered.h"

static Rig rig;

/* --- messages ------------------------------------------------------------------------------- */

static void all_forms(void) {
  set_all_handlers(rig.a, rig.b);
  send_all(rig.bundle, rig.a, 0);
  poll_until(rig.bundle, &replies_seen, ALL_REQUESTS);
  poll_until(rig.bundle, &gets_seen, ALL_GETS);
  CHECK(requests_seen == ALL_REQUESTS);
  /* An endpoint that talks to itself. */
  set_all_handlers(rig.a, rig.a);
  send_all(rig.bundle, rig.a, 1);
  poll_until(rig.bundle, &replies_seen, 2 * ALL_REQUESTS);
  poll_until(rig.bundle, &gets_seen, 2 * ALL_GETS);
  CHECK(returned == 0);
}

/* Many more requests than there is room for, of all sizes. */
static void order(void) {
  int i;
  OK(AM_SetHandler(rig.b, 1, on_ordered));
  OK(AM_SetHandler(rig.b, 2, on_ordered_medium));
  last_order = -1;
  for (i = 0; i < 3000; ++i) {
    if (i % 3 == 0) OK(AM_Request1(rig.a, 0, 1, i));
    if (i % 3 == 1) OK(AM_RequestI1(rig.a, 0, 2, pattern, (size_t)(i % AM_MaxMedium()), i));
    if (i % 3 == 2) OK(AM_RequestXfer1(rig.a, 0, 0, 2, pattern, (size_t)(i % 4096), i));
  }
  poll_until(rig.bundle, &ordered, 3000);
  CHECK(in_order == 3000);
}

static void sizes(void) {
  const size_t longest = AM_MaxLong();
  unsigned char* const there = (unsigned char*)malloc(longest);
  unsigned char* const here = (unsigned char*)malloc(longest);
  size_t i;
  if (there == NULL || here == NULL) exit(2);
  for (i = 0; i < longest; ++i) here[i] = (unsigned char)(i * 31 >> 3);
  memset(there, 0, longest);
  OK(AM_SetSeg(rig.b, there, longest));
  ordered = 0;
  OK(AM_RequestXfer1(rig.a, 0, 0, 2, here, longest, 1));
  OK(AM_RequestI1(rig.a, 0, 2, here, AM_MaxMedium(), 2));
  OK(AM_RequestI1(rig.a, 0, 2, NULL, 0, 3));
  OK(AM_RequestXfer1(rig.a, 0, longest, 2, NULL, 0, 4));
  poll_until(rig.bundle, &ordered, 4);
  CHECK(memcmp(here, there, longest) == 0);
  WANT(AM_ERR_BAD_ARG, AM_RequestXfer1(rig.a, 0, 0, 2, here, longest + 1, 1));
  WANT(AM_ERR_BAD_ARG, AM_RequestI1(rig.a, 0, 2, here, AM_MaxMedium() + 1, 1));
  OK(AM_SetSeg(rig.b, rig.b_segment, SEGMENT));
  free(here);
  free(there);
}

static int asked;
static void on_question(void* token, int n) {
  en_t name;
  ep_t ep = NULL;
  tag_t tag = 0;
  int index = 99;
  ++asked;
  OK(AM_GetSourceEndpoint(token, &name));
  CHECK(AMX_enEqual(name, n == 0 ? rig.a_name : rig.b_name));
  CHECK(memcmp(&name, n == 0 ? &rig.a_name : &rig.b_name, sizeof name) == 0);
  OK(AM_GetDestEndpoint(token, &ep));
  CHECK(ep == (n == 0 ? rig.b : rig.a));
  OK(AM_GetMsgTag(token, &tag));
  CHECK(tag == TAG);
  OK(AMX_GetSourceId(token, &index));
  CHECK(index == 0);
  if (n == 0) OK(AM_Reply1(token, 3, 1));
}

static void interrogation(void) {
  OK(AM_SetHandler(rig.a, 3, on_question));
  OK(AM_SetHandler(rig.b, 3, on_question));
  OK(AM_Request1(rig.a, 0, 3, 0));
  poll_until(rig.bundle, &asked, 2);
}

/* --- gets ------------------------------------------------------------------------------------ */

static int got;
static void on_get(void* token, void* buf, int nbytes, int n) {
  (void)token;
  ++got;
  CHECK(n == 7 && nbytes == 100 && memcmp(buf, rig.b_segment + 50, 100) == 0);
}

static void fetches(void) {
  OK(AM_SetHandler(rig.a, 4, on_get));
  memset(rig.b_segment, 0x5a, 200);
  rig.b_segment[60] = 1;
  OK(AM_GetXfer1(rig.a, 0, 50, 4, 1000, 100, 7));
  poll_until(rig.bundle, &got, 1);
  CHECK(memcmp(rig.a_segment + 1000, rig.b_segment + 50, 100) == 0);
  WANT(AM_ERR_BAD_ARG, AM_GetXfer1(rig.a, 0, 50, 4, SEGMENT - 99, 100, 7));
  WANT(AM_ERR_BAD_ARG, AM_GetXfer1(rig.a, 0, 50, 4, SEGMENT + 1, 0, 7));
}

/* --- returned messages ----------------------------------------------------------------------- */

static void bad_handlers(void) {
  RETURNS(EBADHANDLER, AM_REQUEST_M, 200, 0, AM_Request0(rig.a, 0, 200));
  RETURNS(EBADHANDLER, AM_REQUEST_M, 201, 3, AM_Request3(rig.a, 0, 201, 11, -22, 33));
  CHECK(returned_block_.arg[0] == 11 && returned_block_.arg[1] == -22);
  CHECK(returned_block_.arg[2] == 33 && returned_block_.reply_endpoint == 0);
  CHECK(returned_block_.request_endpoint == rig.a && AMX_enEqual(returned_to, rig.b_name));
  RETURNS(EBADHANDLER, AM_REQUEST_IM, 202, 1, AM_RequestI1(rig.a, 0, 202, pattern, 77, 5));
  CHECK(returned_block_.nbytes == 77 && returned_block_.arg[0] == 5);
  RETURNS(EBADHANDLER, AM_REQUEST_XFER_M, 203, 16,
          AM_RequestXfer16(rig.a, 0, 40, 203, pattern, 88, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                           13, 14, 15, 16));
  CHECK(returned_block_.nbytes == 88 && returned_block_.dest_offset == 40);
  CHECK(returned_block_.arg[0] == 1 && returned_block_.arg[15] == 16);
  RETURNS(EBADHANDLER, AM_GET_XFER_M, 204, 2, AM_GetXfer2(rig.a, 0, 0, 204, 0, 10, 3, 4));
  CHECK(returned_block_.arg[1] == 4);
  /* A handler that is no more. */
  OK(AM_SetNumHandlers(rig.b, 3));
  RETURNS(EBADHANDLER, AM_REQUEST_M, 3, 1, AM_Request1(rig.a, 0, 3, 0));
  OK(AM_SetNumHandlers(rig.b, 256));
}

static void bad_segments(void) {
  RETURNS(EBADSEGOFF, AM_REQUEST_XFER_M, 2, 1,
          AM_RequestXfer1(rig.a, 0, SEGMENT + 1, 2, pattern, 1, 0));
  RETURNS(EBADLENGTH, AM_REQUEST_XFER_M, 2, 1,
          AM_RequestXfer1(rig.a, 0, SEGMENT - 9, 2, pattern, 10, 0));
  CHECK(returned_block_.nbytes == 10 && returned_block_.dest_offset == SEGMENT - 9);
  RETURNS(EBADSEGOFF, AM_REQUEST_XFER_M, 2, 1,
          AM_RequestXfer1(rig.a, 0, (size_t)-1, 2, pattern, 1, 0));
  RETURNS(EBADSEGOFF, AM_GET_XFER_M, 4, 1, AM_GetXfer1(rig.a, 0, SEGMENT + 1, 4, 0, 10, 7));
  RETURNS(EBADLENGTH, AM_GET_XFER_M, 4, 1, AM_GetXfer1(rig.a, 0, SEGMENT - 1, 4, 0, 10, 7));
  OK(AM_SetSeg(rig.b, NULL, 0));
  RETURNS(EBADSEGOFF, AM_REQUEST_XFER_M, 2, 1, AM_RequestXfer1(rig.a, 0, 0, 2, pattern, 1, 0));
  OK(AM_SetSeg(rig.b, rig.b_segment, SEGMENT));
}

static void unmapped(void) {
  RETURNS_AT_ONCE(EBADENTRY, AM_REQUEST_M, AM_Request0(rig.a, 77, 1));
  CHECK(returned_block_.reply_endpoint == 77);
  RETURNS_AT_ONCE(EBADENTRY, AM_REQUEST_IM, AM_RequestI0(rig.a, 77, 1, pattern, 5));
  RETURNS_AT_ONCE(EBADENTRY, AM_REQUEST_XFER_M, AM_RequestXfer0(rig.a, 77, 0, 1, pattern, 5));
  RETURNS_AT_ONCE(EBADENTRY, AM_GET_XFER_M, AM_GetXfer0(rig.a, 77, 0, 1, 0, 5));
}

static int refusals;
static void on_refused_replies(void* token, int which) {
  ++refusals;
  if (which == 0) { /* too long, and no other */
    WANT(AM_ERR_BAD_ARG, AM_ReplyI1(token, 5, pattern, AM_MaxMedium() + 1, 1));
  } else if (which == 1) { /* null, then a good one */
    WANT(AM_ERR_BAD_ARG, AM_ReplyI1(token, 5, NULL, 10, 1));
    OK(AM_Reply1(token, 5, 1));
    WANT(AM_ERR_BAD_ARG, AM_Reply1(token, 5, 1)); /* the second one */
  } else if (which == 2) {                        /* a handler that the requester has not */
    OK(AM_Reply1(token, 210, 1));
  } else if (which == 3) { /* beyond its segment */
    OK(AM_ReplyXfer1(token, SEGMENT, 5, pattern, 1, 1));
  } else {
    WANT(AM_ERR_BAD_ARG, AM_ReplyXfer1(token, 0, 5, pattern, AM_MaxLong() + 1, 1));
    OK(AM_Reply0(token, 6));
  }
}
static int good_replies;
static void on_good_reply(void* token, int n) {
  (void)token;
  good_replies += n;
}
static void on_good_reply0(void* token) { on_good_reply(token, 1); }

static void refused_replies(void) {
  int before;
  OK(AM_SetHandler(rig.b, 7, on_refused_replies));
  OK(AM_SetHandler(rig.a, 5, on_good_reply));
  OK(AM_SetHandler(rig.a, 6, on_good_reply0));
  RETURNS(EBADARGS, AM_REQUEST_M, -1, 0, AM_Request1(rig.a, 0, 7, 0));
  OK(AM_Request1(rig.a, 0, 7, 1));
  poll_until(rig.bundle, &good_replies, 1);
  RETURNS(EREPLYREJECTED, AM_REPLY_M, 210, 1, AM_Request1(rig.a, 0, 7, 2));
  CHECK(returned_block_.request_endpoint == rig.b);
  /* The replier hears of its segment offset, the requester of the want of a reply. */
  before = returned;
  OK(AM_Request1(rig.a, 0, 7, 3));
  poll_until(rig.bundle, &returned, before + 2);
  CHECK(returned_status == EBADARGS);
  OK(AM_Request1(rig.a, 0, 7, 4));
  poll_until(rig.bundle, &good_replies, 2);
}

/* --- handlers that say what they take -------------------------------------------------------- */

static int declared_sum;
static void on_declared(void* token, int a, int b) {
  declared_sum += a + b;
  OK(AM_Reply1(token, 13, a)); /* a handler of two, see below */
}
static void on_declared_data(void* token, void* buf, int nbytes, int a) {
  (void)token;
  declared_sum += ((unsigned char*)buf)[nbytes - 1] + a;
}

static void declared_handlers(void) {
  handler_t any = 0;
  int i;
  int before;
  static unsigned char bytes[100];
  bytes[9] = 7;
  OK(AM_SetHandlerArgs(rig.b, 11, on_declared, 0, 2));
  OK(AM_SetHandlerArgs(rig.b, 12, on_declared_data, 1, 1));
  OK(AM_SetHandlerArgs(rig.a, 12, on_declared_data, 1, 1));
  OK(AM_SetHandlerArgs(rig.a, 13, on_declared, 0, 2));
  /* Requests: whole, and not handled. */
  RETURNS(EBADARGS, AM_REQUEST_M, 11, 1, AM_Request1(rig.a, 0, 11, 5));
  CHECK(returned_block_.arg[0] == 5);
  RETURNS(EBADARGS, AM_REQUEST_M, 11, 0, AM_Request0(rig.a, 0, 11));
  RETURNS(EBADARGS, AM_REQUEST_M, 11, 3, AM_Request3(rig.a, 0, 11, 5, 6, 7));
  CHECK(returned_block_.arg[2] == 7);
  RETURNS(EBADARGS, AM_REQUEST_IM, 11, 2, AM_RequestI2(rig.a, 0, 11, bytes, 10, 5, 6));
  CHECK(returned_block_.nbytes == 10);
  RETURNS(EBADARGS, AM_REQUEST_M, 12, 1, AM_Request1(rig.a, 0, 12, 5));
  RETURNS(EBADARGS, AM_REQUEST_IM, 12, 0, AM_RequestI0(rig.a, 0, 12, bytes, 10));
  RETURNS(EBADARGS, AM_REQUEST_XFER_M, 12, 2, AM_RequestXfer2(rig.a, 0, 16, 12, bytes, 10, 5, 6));
  CHECK(returned_block_.dest_offset == 16);
  RETURNS(EBADARGS, AM_GET_XFER_M, 12, 2, AM_GetXfer2(rig.a, 0, 0, 12, 0, 10, 5, 6));
  CHECK(declared_sum == 0);
  /* The right ones, and a reply that is none: back to the replier. */
  before = returned;
  OK(AM_Request2(rig.a, 0, 11, 20, 3));
  poll_until(rig.bundle, &returned, before + 1);
  CHECK(declared_sum == 23 && returned_status == EREPLYREJECTED && returned_opcode == AM_REPLY_M);
  CHECK(returned_block_.request_endpoint == rig.b && returned_block_.handler == 13);
  OK(AM_RequestI1(rig.a, 0, 12, bytes, 10, 100));
  poll_until(rig.bundle, &declared_sum, 130);
  OK(AM_RequestXfer1(rig.a, 0, 16, 12, bytes, 10, 100));
  poll_until(rig.bundle, &declared_sum, 237);
  OK(AM_GetXfer1(rig.a, 0, 16, 12, 0, 10, 100));
  poll_until(rig.bundle, &declared_sum, 344);
  /* AM_SetHandler takes the word back; a place of such a handler is not free. */
  OK(AM_SetHandler(rig.b, 11, on_ordered));
  WANT(AM_ERR_BAD_ARG, AM_SetHandlerArgs(rig.b, 0, on_declared, 0, 2));
  WANT(AM_ERR_BAD_ARG, AM_SetHandlerArgs(rig.b, 11, on_declared, 0, 17));
  WANT(AM_ERR_BAD_ARG, AM_SetHandlerArgs(rig.b, 11, on_declared, 0, -1));
  for (i = 0; i < 200 && any < 12; ++i) OK(AM_SetHandlerAny(rig.b, &any, on_ordered));
  CHECK(any == 13);
}

/* --- tags ------------------------------------------------------------------------------------ */

static void tags(void) {
  tag_t tag = 5;
  ep_t fresh;
  en_t name;
  OK(AM_GetTag(rig.b, &tag));
  CHECK(tag == TAG);
  OK(AM_AllocateEndpoint(rig.bundle, &fresh, &name));
  OK(AM_GetTag(fresh, &tag));
  CHECK(tag == AM_NONE);
  OK(AM_SetHandler(fresh, 1, on_ordered));
  OK(AM_Map(rig.a, 10, name, 1));
  RETURNS(EBADTAG, AM_REQUEST_M, 1, 1, AM_Request1(rig.a, 10, 1, 0));
  OK(AM_SetTag(fresh, 2));
  RETURNS(EBADTAG, AM_REQUEST_M, 1, 1, AM_Request1(rig.a, 10, 1, 0));
  ordered = 0;
  OK(AM_SetTag(fresh, 1));
  OK(AM_Request1(rig.a, 10, 1, 0));
  poll_until(rig.bundle, &ordered, 1);
  OK(AM_SetTag(fresh, 3)); /* of a connection that is there */
  RETURNS(EBADTAG, AM_REQUEST_M, 1, 1, AM_Request1(rig.a, 10, 1, 0));
  OK(AM_SetTag(fresh, AM_ALL));
  OK(AM_Request1(rig.a, 10, 1, 0));
  poll_until(rig.bundle, &ordered, 2);
  OK(AM_UnMap(rig.a, 10));
  OK(AM_FreeEndpoint(fresh));
}

int main(void) {
  setbuf(stdout, NULL);
  OK(AM_Init());
  CHECK(AM_MaxShort() == 16 && AM_MaxMedium() >= 512 && AM_MaxLong() >= 8192);
  open_rig(&rig);
  all_forms();
  order();
  sizes();
  interrogation();
  fetches();
  bad_handlers();
  OK(AM_SetHandler(rig.b, 3, on_question));
  bad_segments();
  unmapped();
  refused_replies();
  declared_handlers();
  tags();
  close_rig(&rig);
  OK(AM_Terminate());
  return finish();
}
