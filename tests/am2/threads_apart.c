/* Threads with a bundle each: they send to themselves and to each other at the same time, with
   replies that have to wait for the other thread, while a third one makes and frees endpoints. In
   one process; under the thread sanitizer the threads are the point. */
#include <pthread.h>

#include "tests/am2/rig.h"

#define THREADS 2
#define ROUNDS 1500
#define BLOCKS 150
#define BYTES 4096

typedef struct {
  int me;
  eb_t bundle;
  ep_t endpoint;
  en_t name;
  /* Of this thread's handlers alone: a bundle's handlers run in the thread that polls it. */
  int replies, requests, blocks, order;
} Part;

static Part parts[THREADS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int finished;

static void failed(int line) {
  pthread_mutex_lock(&mutex);
  printf("line %d\n", line);
  ++failures;
  pthread_mutex_unlock(&mutex);
}
#define SURE(condition) \
  if (!(condition)) failed(__LINE__)
#define GOOD(call) SURE((call) == AM_OK)

static Part* part_of(void* token) {
  ep_t endpoint;
  int i;
  GOOD(AM_GetDestEndpoint(token, &endpoint));
  for (i = 0; i < THREADS; ++i)
    if (parts[i].endpoint == endpoint) return &parts[i];
  failed(__LINE__);
  return &parts[0];
}

static void on_request(void* token, int n) {
  ++part_of(token)->requests;
  GOOD(AM_Reply1(token, 2, n));
}
static void on_reply(void* token, int n) {
  Part* part = part_of(token);
  SURE(n == part->order++);
  ++part->replies;
}
static void on_block_wanted(void* token, int n) {
  unsigned char block[BYTES];
  memset(block, n, sizeof block);
  GOOD(AM_ReplyI1(token, 4, block, sizeof block, n));
}
static void on_block(void* token, void* data, int nbytes, int n) {
  SURE(nbytes == BYTES && ((unsigned char*)data)[0] == (unsigned char)n &&
       ((unsigned char*)data)[BYTES - 1] == (unsigned char)n);
  ++part_of(token)->blocks;
}

static int count(void) {
  int n;
  pthread_mutex_lock(&mutex);
  n = finished;
  pthread_mutex_unlock(&mutex);
  return n;
}

static void* run(void* argument) {
  Part* part = (Part*)argument;
  int i, to;
  for (to = 0; to < 2; ++to) { /* itself, then the other */
    part->order = part->replies = 0;
    for (i = 0; i < ROUNDS; ++i) GOOD(AM_Request1(part->endpoint, to, 1, i));
    while (part->replies < ROUNDS) GOOD(AM_Poll(part->bundle));
  }
  for (i = 0; i < BLOCKS; ++i) GOOD(AM_Request1(part->endpoint, 1, 3, i));
  while (part->blocks < BLOCKS) GOOD(AM_Poll(part->bundle));
  pthread_mutex_lock(&mutex);
  ++finished;
  pthread_mutex_unlock(&mutex);
  while (count() < THREADS) GOOD(AM_Poll(part->bundle)); /* the other may still want blocks */
  return NULL;
}

/* Calls that take the long way, meanwhile. */
static void make_and_free(void) {
  eb_t bundle;
  ep_t endpoint;
  en_t name;
  int inuse = 0;
  do {
    OK(AM_AllocateBundle(AM_PAR, &bundle));
    OK(AM_AllocateEndpoint(bundle, &endpoint, &name));
    OK(AM_SetTag(endpoint, TAG));
    OK(AM_SetHandler(endpoint, 1, on_request));
    OK(AM_Map(endpoint, 3, parts[inuse++ % THREADS].name, TAG));
    OK(AM_Poll(bundle));
    OK(AM_FreeBundle(bundle));
  } while (count() < THREADS);
}

int main(void) {
  pthread_t threads[THREADS];
  int i;
  setbuf(stdout, NULL);
  OK(AM_Init());
  for (i = 0; i < THREADS; ++i) {
    Part* part = &parts[i];
    part->me = i;
    OK(AM_AllocateBundle(i == 0 ? AM_PAR : AM_SEQ, &part->bundle));
    OK(AM_AllocateEndpoint(part->bundle, &part->endpoint, &part->name));
    OK(AM_SetTag(part->endpoint, TAG));
    OK(AM_SetHandler(part->endpoint, 1, on_request));
    OK(AM_SetHandler(part->endpoint, 2, on_reply));
    OK(AM_SetHandler(part->endpoint, 3, on_block_wanted));
    OK(AM_SetHandler(part->endpoint, 4, on_block));
  }
  for (i = 0; i < THREADS; ++i) {
    OK(AM_Map(parts[i].endpoint, 0, parts[i].name, TAG));
    OK(AM_Map(parts[i].endpoint, 1, parts[1 - i].name, TAG));
  }
  for (i = 0; i < THREADS; ++i)
    if (pthread_create(&threads[i], NULL, run, &parts[i]) != 0) exit(2);
  make_and_free();
  for (i = 0; i < THREADS; ++i) (void)pthread_join(threads[i], NULL);
  for (i = 0; i < THREADS; ++i) {
    CHECK(parts[i].requests == 2 * ROUNDS);
    CHECK(parts[i].blocks == BLOCKS);
    OK(AM_FreeBundle(parts[i].bundle));
  }
  OK(AM_Terminate());
  return finish();
}
