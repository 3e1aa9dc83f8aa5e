/* AM-2 among the processes of a job. job lost: the last process ends while the others send to it.
 */
#define _POSIX_C_SOURCE 200112L
#include <time.h>
#include <unistd.h>

#include "tests/am2/forms.h"

static eb_t bundle;
static ep_t ep;
static int me, all;
static unsigned char segment[SEGMENT];

/* --- every form, round the ring --------------------------------------------------------------- */

static void ring(void) {
  const int next = (me + 1) % all;
  send_all(bundle, ep, next);
  poll_until(bundle, &replies_seen, ALL_REQUESTS);
  poll_until(bundle, &gets_seen, ALL_GETS);
  poll_until(bundle, &requests_seen, ALL_REQUESTS);
  OK(AMX_SPMDBarrier());
  CHECK(requests_seen == ALL_REQUESTS && returned == 0);
}

/* --- names in messages ------------------------------------------------------------------------ */

static ep_t private_ep;
static int introduced;
static int greeted;

/* A name that was passed is mapped where it arrives, in the handler. */
static void on_name(void* token, int ip_addr, int port) {
  en_t name;
  (void)token;
  name.ip_addr = (unsigned)ip_addr;
  name.port = (unsigned)port;
  OK(AM_Map(ep, 500, name, 77));
  ++introduced;
}
static void on_greeting(void* token, int from) {
  en_t name;
  (void)token;
  OK(AM_GetSourceEndpoint(token, &name));
  CHECK((all == 1 || (int)name.ip_addr == from) && from == (me + all - 1) % all);
  ++greeted;
}

static void names(void) {
  en_t name;
  char text[64];
  unsigned a = 0, b = 0;
  en_t* gathered = (en_t*)malloc((size_t)all * sizeof *gathered);
  OK(AM_AllocateEndpoint(bundle, &private_ep, &name));
  OK(AM_SetTag(private_ep, 77));
  OK(AM_SetHandler(private_ep, 5, on_greeting));
  OK(AM_SetHandler(ep, 4, on_name));
  sprintf(text, "%u:%u", name.ip_addr, name.port);
  CHECK(sscanf(text, "%u:%u", &a, &b) == 2 && a == name.ip_addr && b == name.port);
  OK(AMX_SPMDAllGather(&name, gathered, sizeof name));
  CHECK(AMX_enEqual(gathered[me], name));
  CHECK(all == 1 || !AMX_enEqual(gathered[me], gathered[(me + 1) % all]));
  OK(AMX_SPMDBarrier());
  OK(AM_Request2(ep, (me + all - 1) % all, 4, (int)name.ip_addr, (int)name.port));
  poll_until(bundle, &introduced, 1);
  CHECK(AM_GetTranslationName(ep, 500, &name) == AM_OK);
  CHECK(AMX_enEqual(name, gathered[(me + 1) % all]));
  OK(AM_Request1(ep, 500, 5, me));
  poll_until(bundle, &greeted, 1);
  OK(AMX_SPMDBarrier());
  free(gathered);
}

/* --- barriers ----------------------------------------------------------------------------------
 */

static void stand_still(int ms) {
  struct timespec time = {0, 0};
  time.tv_nsec = ms * 1000000L;
  nanosleep(&time, NULL);
}

static int before_barrier;
static void on_early(void* token) {
  (void)token;
  ++before_barrier;
}

/* Behind a barrier, and behind a gather of nothing, what all have sent before to any endpoint of
   the bundle has been handled. */
static void barriers(void) {
  en_t name;
  ep_t second;
  int i, round, may_be_late = getenv("VIADUCT_AM_GENERATION") != NULL;
  en_t* names_of_all = (en_t*)malloc((size_t)all * sizeof *names_of_all);
  OK(AM_AllocateEndpoint(bundle, &second, &name));
  OK(AM_SetTag(second, 78));
  OK(AM_SetHandler(second, 7, on_early));
  OK(AMX_SPMDAllGather(&name, names_of_all, sizeof name));
  for (i = 0; i < all; ++i) OK(AM_Map(ep, 600 + i, names_of_all[i], 78));
  for (round = 1; round <= 20; ++round) {
    if (me == 0) stand_still(2);
    for (i = 0; i < all; ++i) OK(AM_Request0(ep, 600 + i, 7));
    OK(round % 2 == 0 ? AMX_SPMDBarrier() : AMX_SPMDAllGather(NULL, NULL, 0));
    if (!may_be_late) CHECK(before_barrier == round * all);
    poll_until(bundle, &before_barrier, round * all);
    OK(AMX_SPMDBarrier());
  }
  for (i = 0; i < all; ++i) OK(AM_UnMap(ep, 600 + i));
  OK(AMX_SPMDBarrier());
  OK(AM_FreeEndpoint(second));
  free(names_of_all);
}

/* --- large gathers ---------------------------------------------------------------------------- */

static void gathers(void) {
  const size_t bytes = 100000;
  unsigned char* mine = (unsigned char*)malloc(bytes);
  unsigned char* theirs = (unsigned char*)malloc(bytes * (size_t)all);
  size_t i;
  int r, round;
  for (round = 0; round < 3; ++round) {
    for (i = 0; i < bytes; ++i) mine[i] = (unsigned char)(i * 13 + (size_t)me + (size_t)round);
    OK(AMX_SPMDAllGather(mine, theirs, bytes));
    for (r = 0; r < all; ++r)
      for (i = 0; i < bytes; i += 997)
        CHECK(theirs[bytes * (size_t)r + i] == (unsigned char)(i * 13 + (size_t)(r + round)));
  }
  free(mine);
  free(theirs);
}

/* --- waiting ---------------------------------------------------------------------------------- */

static int tokens_seen;
static void on_token(void* token, int n) {
  (void)token;
  (void)n;
  ++tokens_seen;
}

/* A token goes round; everybody waits for it in the kernel. */
static void waiting(void) {
  int i;
  OK(AM_SetHandler(ep, 6, on_token));
  OK(AM_SetEventMask(bundle, AM_NOTEMPTY));
  OK(AMX_SPMDBarrier());
  for (i = 1; i <= 20; ++i) {
    if (me == 0) OK(AM_Request1(ep, (me + 1) % all, 6, i));
    while (tokens_seen < i) {
      OK(AM_WaitSema(bundle));
      OK(AM_Poll(bundle));
    }
    if (me != 0) OK(AM_Request1(ep, (me + 1) % all, 6, i));
  }
  OK(AMX_SPMDBarrier());
}

/* --- tags ------------------------------------------------------------------------------------- */

static void tags(void) {
  tag_t tag = 0, mine = 0;
  const int next = (me + 1) % all;
  int before = returned;
  OK(AM_GetTag(ep, &mine));
  OK(AM_GetTranslationTag(ep, me, &tag));
  CHECK(tag == mine && tag != AM_NONE && tag != AM_ALL);
  OK(AM_GetTranslationTag(ep, next, &tag));
  CHECK(all == 1 || tag != mine);
  OK(AMX_SPMDBarrier());
  OK(AM_SetTag(ep, mine + 1000)); /* the connections are there */
  OK(AMX_SPMDBarrier());
  OK(AM_Request1(ep, next, 6, 0));
  poll_until(bundle, &returned, before + 1);
  CHECK(returned_status == EBADTAG && returned_block_.arg[0] == 0);
  CHECK(returned_block_.reply_endpoint == next);
  OK(AMX_SPMDBarrier());
  OK(AM_SetTag(ep, mine));
  OK(AMX_SPMDBarrier());
}

/* --- handlers in a reply that waits ------------------------------------------------------------
 */

#define BLOCKS 5
static unsigned char block[4096];
static volatile int replying, nested, blocks_sent, blocks_seen, echoes;

/* At process 0. The third and later replies wait for room, and replies to process 0 run meanwhile.
 */
static void on_wish(void* token) {
  en_t name;
  replying = 1;
  OK(AM_ReplyI0(token, 202, block, sizeof block));
  replying = 0;
  OK(AM_GetSourceEndpoint(token, &name)); /* it is this handler's message again */
  CHECK(name.ip_addr == 1);
  WANT(AM_ERR_IN_USE, AM_Request0(ep, 1, 201));
  blocks_sent = blocks_sent + 1;
}
static void on_block(void* token, void* data, int bytes) {
  (void)token;
  (void)data;
  CHECK(bytes == (int)sizeof block);
  blocks_seen = blocks_seen + 1;
}
static void on_question(void* token) { OK(AM_Reply0(token, 204)); }
static void on_echo(void* token) {
  (void)token;
  if (replying) nested = nested + 1;
  echoes = echoes + 1;
}

/* Process 1 asks for more blocks than there is room for and does not poll; process 0 asks it
   something, so that an answer comes when process 1 polls, before there is room again. */
static void nesting(void) {
  int round, i;
  int enough = 0;
  if (all == 1) return;
  OK(AM_SetHandler(ep, 201, on_wish));
  OK(AM_SetHandler(ep, 202, on_block));
  OK(AM_SetHandler(ep, 203, on_question));
  OK(AM_SetHandler(ep, 204, on_echo));
  for (round = 1; !enough && round <= 100; ++round) {
    int* all_enough = (int*)malloc((size_t)all * sizeof *all_enough);
    OK(AMX_SPMDBarrier());
    if (me == 1) {
      for (i = 0; i < BLOCKS; ++i) OK(AM_Request0(ep, 0, 201));
      stand_still(3 * round); /* longer, until process 0 has got its processor meanwhile */
      poll_until(bundle, &blocks_seen, BLOCKS * round);
    } else if (me == 0) {
      stand_still(1);
      OK(AM_Request0(ep, 1, 203));
      poll_until(bundle, &blocks_sent, BLOCKS * round);
      poll_until(bundle, &echoes, round);
    }
    enough = nested > 0;
    OK(AMX_SPMDAllGather(&enough, all_enough, sizeof enough));
    enough = all_enough[0];
    free(all_enough);
  }
  CHECK(enough);
}

/* --- the end of a process --------------------------------------------------------------------- */

static void lost(void) {
  const int last = all - 1;
  OK(AM_SetHandler(ep, 6, on_token));
  OK(AM_Request1(ep, last, 6, 0));
  if (me == last) {
    while (tokens_seen < all) OK(AM_Poll(bundle));
    _exit(3);
  }
  while (returned == 0 || returned_status != EUNREACHABLE) {
    OK(AM_Request1(ep, last, 6, 0));
    OK(AM_Poll(bundle));
  }
  CHECK(returned_block_.reply_endpoint == last && returned_opcode == AM_REQUEST_M);
  OK(AM_RequestXfer1(ep, last, 0, 6, segment, 1, 0));
  CHECK(returned_status == EUNREACHABLE);
  printf("%d: unreachable, %d failures\n", me, failures);
}

int main(int argc, char** argv) {
  unsigned long pid = 0;
  unsigned long* pids;
  int i;
  setbuf(stdout, NULL);
  CHECK(AMX_SPMDMyProc() == 0 && AMX_SPMDNumProcs() == 1);
  OK(AM_Init());
  me = AMX_SPMDMyProc();
  all = AMX_SPMDNumProcs();
  i = AMX_SPMDStartup(&argc, &argv, 0, &pid, &bundle, &ep);
  OK(i);
  if (i != AM_OK) return 1;
  WANT(AM_ERR_IN_USE, AMX_SPMDStartup(&argc, &argv, 0, &pid, &bundle, &ep));
  CHECK(me == AMX_SPMDMyProc() && all == AMX_SPMDNumProcs());
  CHECK(me >= 0 && me < all && AMX_SPMDIsWorker(argv) == 1);
  OK(AM_SetHandler(ep, 0, on_returned));
  OK(AM_SetSeg(ep, segment, sizeof segment));
  set_all_handlers(ep, ep);
  if (argc > 1) {
    OK(AMX_SPMDBarrier());
    lost();
    return failures == 0 ? 0 : 1;
  }
  pids = (unsigned long*)malloc((size_t)all * sizeof *pids);
  OK(AMX_SPMDAllGather(&pid, pids, sizeof pid));
  for (i = 0; i < all; ++i) CHECK(pids[i] == pid);
  free(pids);
  OK(AMX_SPMDBarrier());
  ring();
  names();
  barriers();
  gathers();
  waiting();
  tags();
  nesting();
  printf("%d of %d: %d failures\n", me, all, failures);
  return AMX_SPMDExit(failures == 0 ? 0 : 1);
}
