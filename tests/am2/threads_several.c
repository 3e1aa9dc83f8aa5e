/* One AM_PAR bundle with several endpoints, used by several threads of each process. A request that
   waits for room serves all endpoints of the bundle; a handler that waits for room for its reply
   holds up no other endpoint, and no thread polls into it. Run as a job of 2 ranks or more. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <am.h>
#include <am_spmd.h>

#define ENDPOINTS 2
#define THREADS 3
#define REQUESTS 300 /* of each thread */
#define BYTES 4096
#define SHORT 1
#define MEDIUM 2
#define REPLY 3

static eb_t bundle;
static ep_t endpoints[ENDPOINTS];
static int me, ranks;
static int threads; /* that send */
static int request; /* SHORT, or MEDIUM: with data as the reply */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int handled, replies[THREADS], failures;

static int count_of(const int* count) {
  int n;
  pthread_mutex_lock(&mutex);
  n = *count;
  pthread_mutex_unlock(&mutex);
  return n;
}
static void add(int* count) {
  pthread_mutex_lock(&mutex);
  ++*count;
  pthread_mutex_unlock(&mutex);
}
static void check(int condition, int line) {
  if (condition) return;
  printf("line %d\n", line);
  add(&failures);
}
#define CHECK(condition) check((condition) != 0, __LINE__)

static int is_filled(const unsigned char* data, int bytes, int with) {
  int i;
  for (i = 0; i < bytes; ++i)
    if (data[i] != (unsigned char)with) return 0;
  return 1;
}

static void on_short(void* token, int thread, int n) {
  unsigned char answer[BYTES];
  memset(answer, n + 1, sizeof answer);
  CHECK(AM_ReplyI2(token, REPLY, answer, BYTES, thread, n) == AM_OK);
  add(&handled);
}
static void on_medium(void* token, void* data, int bytes, int thread, int n) {
  CHECK(bytes == BYTES && is_filled((unsigned char*)data, bytes, n));
  on_short(token, thread, n);
}
static void on_reply(void* token, void* data, int bytes, int thread, int n) {
  (void)token;
  CHECK(bytes == BYTES && is_filled((unsigned char*)data, bytes, n + 1));
  add(&replies[thread]);
}

static void* work(void* number) {
  const int thread = (int)(size_t)number;
  unsigned char data[BYTES];
  int i, at, to;
  for (i = 0; i < REQUESTS; ++i) {
    at = (i + thread) % ENDPOINTS;
    to = (me + 1) % ranks * ENDPOINTS + at;
    memset(data, i, sizeof data);
    if (request == SHORT)
      CHECK(AM_Request2(endpoints[at], to, SHORT, thread, i) == AM_OK);
    else
      CHECK(AM_RequestI2(endpoints[at], to, MEDIUM, data, BYTES, thread, i) == AM_OK);
    while (i % 8 == 7 && count_of(&replies[thread]) < i - 8) CHECK(AM_Poll(bundle) == AM_OK);
  }
  while (count_of(&replies[thread]) < REQUESTS || count_of(&handled) < threads * REQUESTS)
    CHECK(AM_Poll(bundle) == AM_OK);
  return NULL;
}

/* Polls alone, beside handlers that wait for room. */
static void* poll_along(void* nothing) {
  (void)nothing;
  while (count_of(&handled) < threads * REQUESTS) CHECK(AM_Poll(bundle) == AM_OK);
  return NULL;
}

static void run(int with, int senders_count, int has_poller) {
  pthread_t senders[THREADS], poller;
  int i;
  request = with;
  threads = senders_count;
  handled = 0;
  memset(replies, 0, sizeof replies);
  AMX_SPMDBarrier();
  for (i = 0; i < threads; ++i)
    CHECK(pthread_create(&senders[i], NULL, work, (void*)(size_t)i) == 0);
  if (has_poller) CHECK(pthread_create(&poller, NULL, poll_along, NULL) == 0);
  for (i = 0; i < threads; ++i) CHECK(pthread_join(senders[i], NULL) == 0);
  if (has_poller) CHECK(pthread_join(poller, NULL) == 0);
  AMX_SPMDBarrier();
}

int main(int argc, char** argv) {
  en_t names[ENDPOINTS], *all;
  eb_t own_bundle;
  ep_t own;
  int i, at;
  if (AMX_SPMDStartup(&argc, &argv, 0, NULL, &own_bundle, &own) != AM_OK) return 1;
  me = AMX_SPMDMyProc();
  ranks = AMX_SPMDNumProcs();
  all = (en_t*)malloc((size_t)ranks * sizeof names);
  CHECK(AM_AllocateBundle(AM_PAR, &bundle) == AM_OK);
  for (at = 0; at < ENDPOINTS; ++at) {
    CHECK(AM_AllocateEndpoint(bundle, &endpoints[at], &names[at]) == AM_OK);
    CHECK(AM_SetTag(endpoints[at], 5) == AM_OK);
    CHECK(AM_SetHandler(endpoints[at], SHORT, on_short) == AM_OK);
    CHECK(AM_SetHandler(endpoints[at], MEDIUM, on_medium) == AM_OK);
    CHECK(AM_SetHandler(endpoints[at], REPLY, on_reply) == AM_OK);
  }
  AMX_SPMDAllGather(names, all, sizeof names);
  for (at = 0; at < ENDPOINTS; ++at)
    for (i = 0; i < ranks * ENDPOINTS; ++i) CHECK(AM_Map(endpoints[at], i, all[i], 5) == AM_OK);
  run(MEDIUM, 1, 0);
  run(SHORT, 1, 1);
  run(MEDIUM, THREADS, 0);
  run(SHORT, THREADS, 1);
  if (failures == 0) printf("rank %d: all right\n", me);
  AMX_SPMDBarrier();
  AMX_SPMDExit(failures != 0);
  return 1;
}
