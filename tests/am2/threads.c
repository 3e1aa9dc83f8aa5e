/* AM_PAR: any thread may send, poll, wait and set up. In one process; under the thread sanitizer
   the threads are the point. */
#include <pthread.h>

#include "tests/am2/rig.h"

#define THREADS 4
#define ROUNDS 300

/* Handlers run one at a time, so that plain counters would do; the threads read them. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int sums[THREADS], replies[THREADS], arrived;

static int read_count(const int* count) {
  int n;
  pthread_mutex_lock(&mutex);
  n = *count;
  pthread_mutex_unlock(&mutex);
  return n;
}
static void add(int* count, int n) {
  pthread_mutex_lock(&mutex);
  *count += n;
  pthread_mutex_unlock(&mutex);
}
static void failed(int line) {
  pthread_mutex_lock(&mutex);
  printf("line %d\n", line);
  ++failures;
  pthread_mutex_unlock(&mutex);
}
/* CHECK and OK, for threads. */
#define SURE(condition) \
  if (!(condition)) failed(__LINE__)
#define GOOD(call) SURE((call) == AM_OK)

static Rig rig;

static void on_request(void* token, int thread, int n) {
  add(&sums[thread], n);
  GOOD(AM_Reply2(token, 2, thread, n));
}
static void on_reply(void* token, int thread, int n) {
  (void)token;
  (void)n;
  add(&replies[thread], 1);
}
static void on_data(void* token, void* buf, int nbytes, int thread) {
  (void)token;
  SURE(nbytes == 64 && ((unsigned char*)buf)[63] == thread);
  add(&arrived, 1);
}

/* All threads send by one endpoint and poll one bundle. */
static void* send_and_poll(void* number) {
  const int me = *(int*)number;
  unsigned char data[64];
  int i;
  memset(data, me, sizeof data);
  for (i = 0; i < ROUNDS; ++i) {
    GOOD(AM_Request2(rig.a, 0, 1, me, i));
    if (i % 10 == 0) GOOD(AM_RequestI1(rig.a, 0, 3, data, sizeof data, me));
    if (i % 7 == 0) GOOD(AM_Poll(rig.bundle));
  }
  while (read_count(&replies[me]) < ROUNDS) GOOD(AM_Poll(rig.bundle));
  return NULL;
}

static void start_all(void* (*body)(void*)) {
  pthread_t threads[THREADS];
  static int numbers[THREADS];
  int i;
  for (i = 0; i < THREADS; ++i) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, body, &numbers[i]) != 0) exit(2);
  }
  for (i = 0; i < THREADS; ++i) (void)pthread_join(threads[i], NULL);
}

static void one_bundle(void) {
  int i;
  start_all(send_and_poll);
  for (i = 0; i < THREADS; ++i) {
    CHECK(sums[i] == ROUNDS * (ROUNDS - 1) / 2);
    CHECK(replies[i] == ROUNDS);
  }
  while (read_count(&arrived) < THREADS * ROUNDS / 10) OK(AM_Poll(rig.bundle));
}

/* Each thread has bundles of its own, which it makes, uses and frees; half of them are AM_SEQ. */
static void* own_bundle(void* number) {
  const int me = *(int*)number;
  eb_t bundle, other;
  ep_t from, to;
  en_t from_name, to_name;
  int round, i;
  for (round = 0; round < 10; ++round) {
    GOOD(AM_AllocateBundle(me % 2 == 0 ? AM_PAR : AM_SEQ, &bundle));
    GOOD(AM_AllocateBundle(AM_PAR, &other));
    GOOD(AM_AllocateEndpoint(bundle, &from, &from_name));
    GOOD(AM_AllocateEndpoint(bundle, &to, &to_name));
    GOOD(AM_SetTag(from, TAG));
    GOOD(AM_SetTag(to, TAG));
    GOOD(AM_SetHandler(to, 1, on_request));
    GOOD(AM_SetHandler(from, 2, on_reply));
    GOOD(AM_Map(from, 0, to_name, TAG));
    for (i = 0; i < 20; ++i) GOOD(AM_Request2(from, 0, 1, me, i));
    GOOD(AM_MoveEndpoint(to, bundle, other));
    for (i = 0; i < 20; ++i) GOOD(AM_Request2(from, 0, 1, me, i));
    while (read_count(&replies[me]) < 40 * (round + 1)) {
      GOOD(AM_Poll(other));
      GOOD(AM_Poll(bundle));
    }
    GOOD(AM_FreeEndpoint(from));
    GOOD(AM_FreeBundle(other));
    GOOD(AM_FreeBundle(bundle));
  }
  return NULL;
}

static void own_bundles(void) {
  memset(replies, 0, sizeof replies);
  start_all(own_bundle);
}

/* A thread waits for messages, and replies to them; the others send. */
static int served;
static void on_served(void* token, int thread) {
  add(&served, 1);
  GOOD(AM_Reply2(token, 2, thread, 0));
}
static eb_t server_bundle;
static void* serve(void* unused) {
  (void)unused;
  while (read_count(&served) < THREADS * 20) {
    GOOD(AM_WaitSema(server_bundle));
    GOOD(AM_Poll(server_bundle));
  }
  return NULL;
}
static void* ask(void* number) {
  const int me = *(int*)number;
  int i;
  for (i = 0; i < 20; ++i) {
    GOOD(AM_Request1(rig.a, 0, 4, me));
    while (read_count(&replies[me]) <= i) GOOD(AM_Poll(rig.bundle));
  }
  return NULL;
}
static void waiting(void) {
  pthread_t server;
  int i;
  memset(replies, 0, sizeof replies);
  OK(AM_AllocateBundle(AM_PAR, &server_bundle));
  OK(AM_SetEventMask(server_bundle, AM_NOTEMPTY));
  OK(AM_MoveEndpoint(rig.b, rig.bundle, server_bundle));
  if (pthread_create(&server, NULL, serve, NULL) != 0) exit(2);
  start_all(ask);
  (void)pthread_join(server, NULL);
  CHECK(served == THREADS * 20);
  for (i = 0; i < THREADS; ++i) CHECK(replies[i] == 20);
}

int main(void) {
  setbuf(stdout, NULL);
  OK(AM_Init());
  open_rig(&rig); /* before there are threads */
  OK(AM_SetHandler(rig.b, 1, on_request));
  OK(AM_SetHandler(rig.a, 2, on_reply));
  OK(AM_SetHandler(rig.b, 3, on_data));
  OK(AM_SetHandler(rig.b, 4, on_served));
  OK(AM_Request2(rig.a, 0, 1, 0, 0));
  while (replies[0] == 0) OK(AM_Poll(rig.bundle));
  replies[0] = 0;
  one_bundle();
  own_bundles();
  waiting();
  close_rig(&rig);
  OK(AM_Terminate());
  return finish();
}
