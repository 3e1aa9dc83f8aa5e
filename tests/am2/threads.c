/* AM_PAR: any thread may send, poll, wait and set up. In one process; under the thread sanitizer
   the threads are the point. */
#define _POSIX_C_SOURCE 199506L
#include <pthread.h>
#include <time.h>

#include "tests/am2/rig.h"

#define THREADS 4
#define ROUNDS 300

static void sleep_ms(long ms) {
  struct timespec time;
  time.tv_sec = 0;
  time.tv_nsec = ms * 1000000L;
  (void)nanosleep(&time, NULL);
}

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

/* A thread waits in a bundle whose endpoints other threads make: two before it waits, one while it
   waits, and the first one of a bundle that has none yet. */
static int handled;
static eb_t waiter_bundle;
static void on_counted(void* token, int n) {
  (void)token;
  add(&handled, n);
}
static void* wait_for_all(void* wanted) {
  while (read_count(&handled) < *(int*)wanted) {
    GOOD(AM_WaitSema(waiter_bundle));
    GOOD(AM_Poll(waiter_bundle));
  }
  return NULL;
}
static ep_t counting_endpoint(int index) {
  ep_t ep;
  en_t name;
  OK(AM_AllocateEndpoint(waiter_bundle, &ep, &name));
  OK(AM_SetTag(ep, TAG));
  OK(AM_SetHandler(ep, 5, on_counted));
  OK(AM_Map(rig.a, index, name, TAG));
  return ep;
}
/* The message is handled, long before the second for which a sleep lasts at most. */
static void send_counted(int index) {
  const int before = read_count(&handled);
  int i;
  OK(AM_Request1(rig.a, index, 5, 1));
  for (i = 0; i < 20000 && read_count(&handled) == before; ++i) {
    OK(AM_Poll(rig.bundle));
    sleep_ms(1);
  }
  CHECK(read_count(&handled) == before + 1);
}
static void other_endpoints(int at_first) {
  static int wanted = 9;
  pthread_t waiter;
  int i;
  handled = 0;
  OK(AM_AllocateBundle(AM_PAR, &waiter_bundle));
  OK(AM_SetEventMask(waiter_bundle, AM_NOTEMPTY));
  for (i = 0; i < at_first; ++i) (void)counting_endpoint(2 + i);
  if (pthread_create(&waiter, NULL, wait_for_all, &wanted) != 0) exit(2);
  sleep_ms(50); /* it sleeps */
  for (; i < 3; ++i) {
    (void)counting_endpoint(2 + i);
    sleep_ms(20);
  }
  for (i = 0; i < 9; ++i) {
    send_counted(2 + (i + 1) % 3);
    sleep_ms(5);
  }
  (void)pthread_join(waiter, NULL);
  OK(AM_FreeBundle(waiter_bundle));
  for (i = 0; i < 3; ++i) OK(AM_UnMap(rig.a, 2 + i));
}

/* The handlers of an AM_SEQ bundle run in the thread that uses it, whichever thread has made it. */
static pthread_t user;
static eb_t used_bundle;
static ep_t used;
static int elsewhere, in_user;
static int stage;
static void on_used(void* token, int n) {
  (void)token;
  (void)n;
  add(pthread_equal(pthread_self(), user) ? &in_user : &elsewhere, 1);
}
static void* use(void* unused) {
  (void)unused;
  GOOD(AM_Poll(used_bundle));
  add(&stage, 1);
  sleep_ms(100); /* it computes */
  while (read_count(&in_user) + read_count(&elsewhere) < 2000) GOOD(AM_Poll(used_bundle));
  return NULL;
}
static void used_by_one_thread(void) {
  en_t name;
  int i;
  OK(AM_AllocateBundle(AM_SEQ, &used_bundle));
  OK(AM_AllocateEndpoint(used_bundle, &used, &name));
  OK(AM_SetTag(used, TAG));
  OK(AM_SetHandler(used, 6, on_used));
  OK(AM_Map(rig.a, 2, name, TAG));
  if (pthread_create(&user, NULL, use, NULL) != 0) exit(2);
  while (read_count(&stage) == 0) sleep_ms(1);
  for (i = 0; i < 2000; ++i) OK(AM_Request1(rig.a, 2, 6, i)); /* waits for room */
  (void)pthread_join(user, NULL);
  CHECK(elsewhere == 0 && in_user == 2000);
  OK(AM_FreeBundle(used_bundle));
}

/* AM_SEQ bundles in turn: this thread, another one, this thread again. The waits of this thread in
   one of its bundles serve the others again. */
typedef struct {
  eb_t bundle;
  ep_t ep;
  en_t name;
} One;
static One mine, more, theirs, sink;
static int lent, answered, sunk;
static void on_lent(void* token) {
  add(&lent, 1);
  GOOD(AM_Reply0(token, 8));
}
static void on_answered(void* token) {
  (void)token;
  add(&answered, 1);
}
static void on_sunk(void* token) {
  (void)token;
  add(&sunk, 1);
}
static void open_one(One* one) {
  OK(AM_AllocateBundle(AM_SEQ, &one->bundle));
  OK(AM_AllocateEndpoint(one->bundle, &one->ep, &one->name));
  OK(AM_SetTag(one->ep, TAG));
  OK(AM_SetHandler(one->ep, 7, on_lent));
  OK(AM_SetHandler(one->ep, 8, on_answered));
  OK(AM_SetHandler(one->ep, 9, on_sunk));
}
static void* use_once(void* unused) {
  GOOD(AM_Request0(mine.ep, 0, 9));
  GOOD(AM_Poll(mine.bundle));
  return unused;
}
/* Takes what comes to `sink` only when `mine` has answered. */
static void* ask_first(void* wanted) {
  const time_t limit = time(NULL) + 4;
  const int before = read_count(&answered);
  GOOD(AM_Poll(sink.bundle)); /* from now on no other thread's waits serve it */
  GOOD(AM_Request0(theirs.ep, 0, 7));
  add(&stage, 1);
  while (read_count(&answered) == before && time(NULL) < limit) GOOD(AM_Poll(theirs.bundle));
  SURE(read_count(&answered) == before + 1);
  while (read_count(&sunk) < *(int*)wanted) {
    GOOD(AM_Poll(theirs.bundle));
    GOOD(AM_Poll(sink.bundle));
  }
  return NULL;
}
static void lent_to_another(void) {
  enum { kMany = 2000 };
  static int wanted = kMany + 4;
  pthread_t thread;
  int i;
  open_one(&mine);
  open_one(&more);
  open_one(&theirs);
  open_one(&sink);
  OK(AM_Map(mine.ep, 0, theirs.name, TAG));
  OK(AM_Map(theirs.ep, 0, mine.name, TAG));
  OK(AM_Map(more.ep, 0, sink.name, TAG));
  OK(AM_Request0(theirs.ep, 0, 7)); /* connects */
  while (read_count(&lent) == 0) OK(AM_Poll(mine.bundle));
  OK(AM_Request0(more.ep, 0, 9));
  OK(AM_Request0(mine.ep, 0, 9));
  OK(AM_Poll(mine.bundle));
  if (pthread_create(&thread, NULL, use_once, NULL) != 0) exit(2);
  (void)pthread_join(thread, NULL);
  OK(AM_Request0(mine.ep, 0, 9)); /* this thread has used it last */
  OK(AM_Poll(mine.bundle));
  while (read_count(&answered) < 1) OK(AM_Poll(theirs.bundle));
  if (pthread_create(&thread, NULL, ask_first, &wanted) != 0) exit(2);
  while (read_count(&stage) == 1) sleep_ms(1);
  for (i = 0; i < kMany; ++i) OK(AM_Request0(more.ep, 0, 9)); /* waits for room */
  (void)pthread_join(thread, NULL);
  CHECK(sunk == wanted && lent == 2 && answered == 2);
  OK(AM_FreeBundle(mine.bundle));
  OK(AM_FreeBundle(more.bundle));
  OK(AM_FreeBundle(theirs.bundle));
  OK(AM_FreeBundle(sink.bundle));
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
  OK(AM_MoveEndpoint(rig.b, server_bundle, rig.bundle));
  other_endpoints(2);
  other_endpoints(0);
  used_by_one_thread();
  lent_to_another();
  close_rig(&rig);
  OK(AM_Terminate());
  return finish();
}
