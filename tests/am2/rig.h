/* What the tests of AM-2 share: checks that say where, a bundle with two endpoints that know each
   other. */
#ifndef VIADUCT_TESTS_AM2_RIG_H
#define VIADUCT_TESTS_AM2_RIG_H

#include <am.h>
#include <am_spmd.h>
#include <time.h>

#include "tests/c/checks.h"

#define OK(call) WANT(AM_OK, call)

#define TAG ((tag_t)0x1234abcdUL)
#define SEGMENT 65536

/* Two endpoints in one bundle: index 0 of each is the other one, index 1 itself. */
typedef struct {
  eb_t bundle;
  ep_t a, b;
  en_t a_name, b_name;
  unsigned char* a_segment; /* SEGMENT bytes each */
  unsigned char* b_segment;
} Rig;

/* What handler 0 has been told last. */
static volatile int returned;
static int returned_status, returned_opcode;
static AM_ArgBlock returned_block_;
static en_t returned_to;

HELPER void on_returned(int status, op_t opcode, void* argblock) {
  returned = returned + 1;
  returned_status = status;
  returned_opcode = opcode;
  returned_block_ = *(AM_ArgBlock*)argblock;
  OK(AM_GetSourceEndpoint(argblock, &returned_to));
}

HELPER void open_endpoint(eb_t bundle, ep_t* ep, en_t* name, unsigned char** segment) {
  OK(AM_AllocateEndpoint(bundle, ep, name));
  OK(AM_SetTag(*ep, TAG));
  OK(AM_SetHandler(*ep, 0, on_returned));
  *segment = (unsigned char*)calloc(1, SEGMENT);
  OK(AM_SetSeg(*ep, *segment, SEGMENT));
}

HELPER void open_rig(Rig* rig) {
  OK(AM_AllocateBundle(AM_SEQ, &rig->bundle));
  open_endpoint(rig->bundle, &rig->a, &rig->a_name, &rig->a_segment);
  open_endpoint(rig->bundle, &rig->b, &rig->b_name, &rig->b_segment);
  OK(AM_Map(rig->a, 0, rig->b_name, TAG));
  OK(AM_Map(rig->b, 0, rig->a_name, TAG));
  OK(AM_Map(rig->a, 1, rig->a_name, TAG));
}

HELPER void close_rig(Rig* rig) {
  OK(AM_FreeBundle(rig->bundle));
  free(rig->a_segment);
  free(rig->b_segment);
}

/* Polls until *count is n, or for as long as only a hang takes. */
HELPER void poll_until(eb_t bundle, volatile int* count, int n) {
  const time_t limit = time(NULL) + 120;
  while (*count < n && time(NULL) < limit) OK(AM_Poll(bundle));
  CHECK(*count == n);
}

/* What comes back before the call returns, and later, to the `rig` of the including file. */
#define RETURNS_AT_ONCE(status, opcode, call)                          \
  do {                                                                 \
    const int before_ = returned;                                      \
    OK(call);                                                          \
    CHECK(returned == before_ + 1);                                    \
    CHECK(returned_status == (status) && returned_opcode == (opcode)); \
  } while (0)
#define RETURNS(status, opcode, number, count, call)                                  \
  do {                                                                                \
    const int before_ = returned;                                                     \
    OK(call);                                                                         \
    poll_until(rig.bundle, &returned, before_ + 1);                                   \
    CHECK(returned == before_ + 1);                                                   \
    CHECK(returned_status == (status) && returned_opcode == (opcode));                \
    CHECK(returned_block_.handler == (number) && returned_block_.numargs == (count)); \
  } while (0)

HELPER int finish(void) {
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

#endif
