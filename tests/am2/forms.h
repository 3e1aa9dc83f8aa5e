/* Messages of every kind with 0 to 16 arguments: handlers that check what they get, and senders. */
#ifndef VIADUCT_TESTS_AM2_FORMS_H
#define VIADUCT_TESTS_AM2_FORMS_H

#include "tests/am2/rig.h"

/* Argument i of a message. */
#define V(i) ((i)*130000001 - 1900000007)

#define P0
#define P1 , int a0
#define P2 P1, int a1
#define P3 P2, int a2
#define P4 P3, int a3
#define P5 P4, int a4
#define P6 P5, int a5
#define P7 P6, int a6
#define P8 P7, int a7
#define P9 P8, int a8
#define P10 P9, int a9
#define P11 P10, int a10
#define P12 P11, int a11
#define P13 P12, int a12
#define P14 P13, int a13
#define P15 P14, int a14
#define P16 P15, int a15

#define C0
#define C1 CHECK(a0 == V(0));
#define C2 C1 CHECK(a1 == V(1));
#define C3 C2 CHECK(a2 == V(2));
#define C4 C3 CHECK(a3 == V(3));
#define C5 C4 CHECK(a4 == V(4));
#define C6 C5 CHECK(a5 == V(5));
#define C7 C6 CHECK(a6 == V(6));
#define C8 C7 CHECK(a7 == V(7));
#define C9 C8 CHECK(a8 == V(8));
#define C10 C9 CHECK(a9 == V(9));
#define C11 C10 CHECK(a10 == V(10));
#define C12 C11 CHECK(a11 == V(11));
#define C13 C12 CHECK(a12 == V(12));
#define C14 C13 CHECK(a13 == V(13));
#define C15 C14 CHECK(a14 == V(14));
#define C16 C15 CHECK(a15 == V(15));

#define A0
#define A1 , V(0)
#define A2 A1, V(1)
#define A3 A2, V(2)
#define A4 A3, V(3)
#define A5 A4, V(4)
#define A6 A5, V(5)
#define A7 A6, V(6)
#define A8 A7, V(7)
#define A9 A8, V(8)
#define A10 A9, V(9)
#define A11 A10, V(10)
#define A12 A11, V(11)
#define A13 A12, V(12)
#define A14 A13, V(13)
#define A15 A14, V(14)
#define A16 A15, V(15)

static int requests_seen, replies_seen, gets_seen;

/* Handlers of requests with M arguments: 20 + M short, 40 + M medium, 60 + M Xfer. Their replies:
   100 + M, 120 + M, 140 + M; gets: 160 + M. */
#define BYTES(M) (unsigned)(16 * (M) + 5)
#define OFFSET(M) (size_t)(1024 * (M) + 3)

static unsigned char pattern[8192];

/* As OK and WANT, without the text of the call, which is too long for C89. */
#define TAKEN(call) CHECK_RESULT(call, AM_OK)
#define NOT_TAKEN(call) CHECK_RESULT(call, AM_ERR_BAD_ARG)
#define CHECK_RESULT(call, result) \
  do {                             \
    const int got_ = (call);       \
    CHECK(got_ == result);         \
  } while (0)

#define HANDLERS(M)                                                                            \
  static void short_request_##M(void* token P##M) {                                            \
    C##M++ requests_seen;                                                                      \
    TAKEN(AM_Reply##M(token, 100 + M A##M));                                                   \
  }                                                                                            \
  static void short_reply_##M(void* token P##M) {                                              \
    C##M++ replies_seen;                                                                       \
    NOT_TAKEN(AM_Reply##M(token, 100 + M A##M));                                               \
  }                                                                                            \
  static void medium_request_##M(void* token, void* buf, int nbytes P##M) {                    \
    C##M++ requests_seen;                                                                      \
    CHECK(nbytes == (int)BYTES(M) && memcmp(buf, pattern + M, BYTES(M)) == 0);                 \
    CHECK(((size_t)buf & 15) == 0);                                                            \
    TAKEN(AM_ReplyI##M(token, 120 + M, pattern, BYTES(M) A##M));                               \
  }                                                                                            \
  static void medium_reply_##M(void* token, void* buf, int nbytes P##M) {                      \
    C##M++ replies_seen;                                                                       \
    (void)token;                                                                               \
    CHECK(nbytes == (int)BYTES(M) && memcmp(buf, pattern, BYTES(M)) == 0);                     \
  }                                                                                            \
  static void xfer_request_##M(void* token, void* buf, int nbytes P##M) {                      \
    C##M++ requests_seen;                                                                      \
    CHECK(nbytes == (int)BYTES(M) && memcmp(buf, pattern + M, BYTES(M)) == 0);                 \
    TAKEN(AM_ReplyXfer##M(token, OFFSET(M) + 300, 140 + M, pattern + 1, BYTES(M) A##M));       \
  }                                                                                            \
  static void xfer_reply_##M(void* token, void* buf, int nbytes P##M) {                        \
    C##M++ replies_seen;                                                                       \
    (void)token;                                                                               \
    CHECK(nbytes == (int)BYTES(M) && memcmp(buf, pattern + 1, BYTES(M)) == 0);                 \
  }                                                                                            \
  static void get_##M(void* token, void* buf, int nbytes P##M) {                               \
    C##M++ gets_seen;                                                                          \
    NOT_TAKEN(AM_Reply##M(token, 100 + M A##M));                                               \
    CHECK(nbytes == (int)BYTES(M) && memcmp(buf, pattern + M, BYTES(M)) == 0);                 \
  }                                                                                            \
  static void set_handlers_##M(ep_t from, ep_t to) {                                           \
    OK(AM_SetHandler(to, 20 + M, short_request_##M));                                          \
    OK(AM_SetHandler(to, 40 + M, medium_request_##M));                                         \
    OK(AM_SetHandler(to, 60 + M, xfer_request_##M));                                           \
    OK(AM_SetHandler(from, 100 + M, short_reply_##M));                                         \
    OK(AM_SetHandler(from, 120 + M, medium_reply_##M));                                        \
    OK(AM_SetHandler(from, 140 + M, xfer_reply_##M));                                          \
    OK(AM_SetHandler(from, 160 + M, get_##M));                                                 \
  }                                                                                            \
  /* Four requests and two gets; the Xfers lie at the other side's OFFSET(M). */               \
  static void send_all_##M(eb_t bundle, ep_t from, int to) {                                   \
    int sent;                                                                                  \
    TAKEN(AM_Request##M(from, to, 20 + M A##M));                                               \
    TAKEN(AM_RequestI##M(from, to, 40 + M, pattern + M, BYTES(M) A##M));                       \
    TAKEN(AM_RequestXfer##M(from, to, OFFSET(M), 60 + M, pattern + M, BYTES(M) A##M));         \
    do {                                                                                       \
      sent = AM_RequestXferAsync##M(from, to, OFFSET(M), 60 + M, pattern + M, BYTES(M) A##M);  \
      OK(AM_Poll(bundle));                                                                     \
    } while (sent == AM_ERR_NOT_SENT);                                                         \
    CHECK(sent == AM_OK);                                                                      \
    TAKEN(AM_GetXfer##M(from, to, OFFSET(M), 160 + M, OFFSET(M) + 600, BYTES(M) A##M));        \
    do {                                                                                       \
      sent = AM_GetXferAsync##M(from, to, OFFSET(M), 160 + M, OFFSET(M) + 600, BYTES(M) A##M); \
      OK(AM_Poll(bundle));                                                                     \
    } while (sent == AM_ERR_NOT_SENT);                                                         \
    CHECK(sent == AM_OK);                                                                      \
  }

HANDLERS(0)
HANDLERS(1)
HANDLERS(2)
HANDLERS(3)
HANDLERS(4)
HANDLERS(5)
HANDLERS(6)
HANDLERS(7)
HANDLERS(8)
HANDLERS(9)
HANDLERS(10)
HANDLERS(11)
HANDLERS(12)
HANDLERS(13)
HANDLERS(14)
HANDLERS(15)
HANDLERS(16)

#define EVERY_M(DO) \
  DO(0)             \
  DO(1)             \
  DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) DO(16)

HELPER void set_all_handlers(ep_t from, ep_t to) {
  unsigned i;
  for (i = 0; i < sizeof pattern; ++i) pattern[i] = (unsigned char)(i * 37 + i / 251);
#define SET(M) set_handlers_##M(from, to);
  EVERY_M(SET)
#undef SET
}

HELPER void send_all(eb_t bundle, ep_t from, int to) {
#define SEND(M) send_all_##M(bundle, from, to);
  EVERY_M(SEND)
#undef SEND
}

#define ALL_REQUESTS (17 * 4)
#define ALL_GETS (17 * 2)

#endif
