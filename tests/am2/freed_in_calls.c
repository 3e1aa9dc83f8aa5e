/* A thread waits in a call on an endpoint, or begins one, while another thread frees the endpoint,
   frees its bundle, or ends the interface. The call returns with an error, and the endpoint has
   gone afterwards. In one process. */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include <pthread.h>
#include <sched.h>

#include "tests/am2/rig.h"

#define MOST 100000 /* requests: more than there is room for */
#define BYTES 4000

enum { SHORT, MEDIUM, XFER, UNMAP, CALLS };
enum { ENDPOINT, BUNDLE, ALL, WAYS };

static eb_t bundle, other_bundle;
static ep_t endpoint, other;
static int kind; /* of the call */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int sent;

static int count_sent(int more) {
  int now;
  pthread_mutex_lock(&mutex);
  now = sent += more;
  pthread_mutex_unlock(&mutex);
  return now;
}

static void sleep_ms(int ms) {
  struct timespec time;
  time.tv_sec = 0;
  time.tv_nsec = (long)ms * 1000000;
  nanosleep(&time, NULL);
}

static void on_request(void* token) { OK(AM_Reply0(token, 3)); }
static void on_data(void* token, void* data, int nbytes) {
  (void)data;
  (void)nbytes;
  OK(AM_Reply0(token, 3));
}
static void on_reply(void* token) { (void)token; }
static void on_back(int status, op_t opcode, void* argblock) {
  (void)status;
  (void)opcode;
  (void)argblock;
}

static void open_one(eb_t home, ep_t* ep, en_t* name, void* segment) {
  OK(AM_AllocateEndpoint(home, ep, name));
  OK(AM_SetTag(*ep, TAG));
  OK(AM_SetSeg(*ep, segment, BYTES));
  OK(AM_SetHandler(*ep, 0, on_back));
  OK(AM_SetHandler(*ep, 1, on_request));
  OK(AM_SetHandler(*ep, 2, on_data));
  OK(AM_SetHandler(*ep, 3, on_reply));
}

static int call_once(const char* data) {
  switch (kind) {
    case SHORT:
      return AM_Request0(endpoint, 0, 1);
    case MEDIUM:
      return AM_RequestI0(endpoint, 0, 2, data, BYTES);
    case XFER:
      return AM_RequestXfer0(endpoint, 0, 0, 2, data, BYTES);
    default:
      return AM_UnMap(endpoint, 0);
  }
}

/* Calls until a call answers an error, which is the thread's result. */
static void* call_on(void* nothing) {
  static char data[BYTES];
  int i, result = AM_OK;
  (void)nothing;
  if (kind == UNMAP) OK(AM_Request0(endpoint, 0, 1));
  for (i = 0; i < MOST && result == AM_OK; ++i) {
    count_sent(1);
    result = call_once(data);
  }
  return (void*)(size_t)result;
}

/* Returns when the thread's calls do not go on. */
static void await_standstill(void) {
  int before, now = 0;
  do {
    before = now;
    sleep_ms(15);
    now = count_sent(0);
  } while (now == 0 || now != before);
}

static void run(int way) {
  static char segments[2][BYTES];
  en_t name, other_name;
  pthread_t thread;
  void* result;
  int i, has_failed = failures;
  OK(AM_AllocateBundle(AM_PAR, &bundle));
  OK(AM_AllocateBundle(AM_SEQ, &other_bundle));
  open_one(bundle, &endpoint, &name, segments[0]);
  open_one(other_bundle, &other, &other_name, segments[1]);
  OK(AM_Map(endpoint, 0, other_name, TAG));
  OK(AM_Request0(endpoint, 0, 1));
  for (i = 0; i < 100; ++i) {
    OK(AM_Poll(other_bundle));
    OK(AM_Poll(bundle));
  }
  count_sent(-count_sent(0));
  CHECK(pthread_create(&thread, NULL, call_on, NULL) == 0);
  await_standstill(); /* nobody polls other_bundle */
  if (way == ENDPOINT) OK(AM_FreeEndpoint(endpoint));
  if (way == BUNDLE) OK(AM_FreeBundle(bundle));
  if (way == ALL) OK(AM_Terminate());
  WANT(way == ALL ? AM_ERR_NOT_INIT : AM_ERR_BAD_ARG, AM_Request0(endpoint, 0, 1));
  CHECK(pthread_join(thread, &result) == 0);
  WANT(way == ALL ? AM_ERR_NOT_INIT : AM_ERR_BAD_ARG, (size_t)result);
  if (way == ALL) OK(AM_Init());
  if (way == ENDPOINT) OK(AM_FreeBundle(bundle));
  if (way != ALL) OK(AM_FreeBundle(other_bundle));
  if (failures != has_failed) printf("in call %d, freed in way %d\n", kind, way);
}

/* A thread waits in AM_WaitSema, for nothing: the wait ends when its bundle goes. */
static void* wait_in(void* nothing) {
  (void)nothing;
  return (void*)(size_t)AM_WaitSema(bundle);
}
static void run_wait(int way) {
  static char segment[BYTES];
  en_t name;
  pthread_t thread;
  void* result;
  OK(AM_AllocateBundle(AM_PAR, &bundle));
  OK(AM_SetEventMask(bundle, AM_NOTEMPTY));
  open_one(bundle, &endpoint, &name, segment);
  CHECK(pthread_create(&thread, NULL, wait_in, NULL) == 0);
  sleep_ms(50); /* until it sleeps */
  if (way == BUNDLE) OK(AM_FreeBundle(bundle));
  if (way == ALL) OK(AM_Terminate());
  CHECK(pthread_join(thread, &result) == 0);
  WANT(way == ALL ? AM_ERR_NOT_INIT : AM_ERR_BAD_ARG, (size_t)result);
  if (way == ALL) OK(AM_Init());
}

/* Short requests, one behind the other, to the endpoint itself: until one answers an error. */
static void* send_on(void* nothing) {
  int result = AM_OK;
  (void)nothing;
  while (result == AM_OK) {
    count_sent(1);
    result = AM_Request0(endpoint, 0, 3);
  }
  return (void*)(size_t)result;
}

/* The endpoint is freed while a thread begins calls. */
static void run_among_calls(void) {
  static char segment[BYTES];
  en_t name;
  pthread_t thread;
  void* result;
  int round;
  OK(AM_AllocateBundle(AM_PAR, &bundle));
  for (round = 0; round < 100; ++round) {
    open_one(bundle, &endpoint, &name, segment);
    OK(AM_Map(endpoint, 0, name, TAG));
    count_sent(-count_sent(0));
    CHECK(pthread_create(&thread, NULL, send_on, NULL) == 0);
    while (count_sent(0) < round) sched_yield();
    OK(AM_FreeEndpoint(endpoint));
    CHECK(pthread_join(thread, &result) == 0);
    WANT(AM_ERR_BAD_ARG, (size_t)result);
  }
  OK(AM_FreeBundle(bundle));
}

int main(void) {
  int way;
  OK(AM_Init());
  for (way = 0; way < WAYS; ++way)
    for (kind = 0; kind < CALLS; ++kind) run(way);
  run_wait(BUNDLE);
  run_wait(ALL);
  run_among_calls();
  OK(AM_Terminate());
  return finish();
}
