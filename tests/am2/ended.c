/* A process ends well while threads of it go on, or by AMX_SPMDExit(0) in a handler. The other
   processes' messages to it come back, and the job ends with 0. Run as a job of 2 ranks or more.
   ended HOW [threads]: HOW is exit, return, terminate or handler. */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include <pthread.h>

#include "tests/am2/rig.h"

static eb_t bundle, parallel;
static ep_t ep, polled;
static int me, all;
static int told; /* by a request: to end */
static const char* how;

static void* sleep_on(void* nothing) {
  (void)nothing;
  for (;;) {
    struct timespec time;
    time.tv_sec = 1;
    time.tv_nsec = 0;
    nanosleep(&time, NULL);
  }
  return NULL;
}
/* Until the interface has ended. */
static void* poll_on(void* nothing) {
  (void)nothing;
  while (AM_Poll(parallel) == AM_OK) {
  }
  return sleep_on(NULL);
}
static void* wait_on(void* nothing) {
  int result;
  (void)nothing;
  do result = AM_Request0(polled, 0, 3);
  while (result == AM_OK);
  return sleep_on(NULL);
}

static void begin(void* (*function)(void*)) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, function, NULL) == 0);
}

static void on_end(void* token) {
  (void)token;
  if (strcmp(how, "handler") == 0) AMX_SPMDExit(failures != 0);
  told = 1;
}
static void on_nothing(void* token) { (void)token; }

/* Requests to the ended process come back sooner or later, and none of them waits for ever. */
static void send_until_back(int rank) {
  while (returned == 0) {
    OK(AM_Request0(ep, rank, 2));
    OK(AM_Poll(bundle));
  }
  CHECK(returned_status == EBADENDPOINT || returned_status == EUNREACHABLE);
  returned = 0;
}

static int finish_as(const char* way) {
  if (strcmp(way, "terminate") == 0) OK(AM_Terminate());
  if (strcmp(way, "exit") == 0) AMX_SPMDExit(failures != 0);
  return failures != 0;
}

int main(int argc, char** argv) {
  en_t name;
  int i;
  if (argc < 2 || AMX_SPMDStartup(&argc, &argv, 0, NULL, &bundle, &ep) != AM_OK) return 2;
  how = argv[1];
  me = AMX_SPMDMyProc();
  all = AMX_SPMDNumProcs();
  OK(AM_SetHandler(ep, 0, on_returned));
  OK(AM_SetHandler(ep, 1, on_end));
  OK(AM_SetHandler(ep, 2, on_nothing));
  OK(AM_AllocateBundle(AM_PAR, &parallel));
  OK(AM_AllocateEndpoint(parallel, &polled, &name));
  OK(AM_SetTag(polled, 5));
  OK(AM_SetHandler(polled, 3, on_nothing));
  OK(AM_Map(polled, 0, name, 5));
  if (argc > 2) {
    begin(sleep_on);
    begin(poll_on);
    begin(wait_on);
  }
  OK(AMX_SPMDBarrier());
  if (me != 0) {
    while (!told) OK(AM_Poll(bundle));
    return finish_as(how);
  }
  for (i = 1; i < all; ++i) OK(AM_Request0(ep, i, 1));
  if (strcmp(how, "exit") != 0) /* that one waits for this process, and handles all meanwhile */
    for (i = 1; i < all; ++i) send_until_back(i);
  return finish_as(strcmp(how, "handler") == 0 ? "exit" : how);
}
