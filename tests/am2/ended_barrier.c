/* A thread waits for all processes while another thread ends the interface: the call answers
   AM_ERR_NOT_INIT. The process has come to that barrier all the same, and begins anew behind it.
   Run as a job of 2. */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include <pthread.h>

#include "tests/am2/rig.h"

static eb_t bundle;
static ep_t ep;

static void start(void) { OK(AMX_SPMDStartup(NULL, NULL, 0, NULL, &bundle, &ep)); }

static void* await_barrier(void* nothing) {
  (void)nothing;
  return (void*)(size_t)AMX_SPMDBarrier();
}
static void* await_gather(void* nothing) {
  static char source, dest[2];
  (void)nothing;
  return (void*)(size_t)AMX_SPMDAllGather(&source, dest, 1);
}

static void end_during(void* (*wait)(void*)) {
  pthread_t thread;
  struct timespec time;
  void* result;
  CHECK(pthread_create(&thread, NULL, wait, NULL) == 0);
  time.tv_sec = 0;
  time.tv_nsec = 300000000; /* until it waits */
  nanosleep(&time, NULL);
  OK(AM_Terminate());
  CHECK(pthread_join(thread, &result) == 0);
  WANT(AM_ERR_NOT_INIT, (size_t)result);
  WANT(AM_ERR_NOT_INIT, AMX_SPMDBarrier());
}

/* Returns when process 0 has ended the interface. */
static void await_end(void) {
  returned = 0;
  while (returned == 0) {
    OK(AM_Request0(ep, 0, 1));
    OK(AM_Poll(bundle));
  }
}
static void on_nothing(void* token) { (void)token; }

int main(void) {
  void* (*const waits[2])(void*) = {await_barrier, await_gather};
  int i;
  for (i = 0; i < 2; ++i) {
    start();
    OK(AM_SetHandler(ep, 0, on_returned));
    OK(AM_SetHandler(ep, 1, on_nothing));
    OK(AMX_SPMDBarrier());
    if (AMX_SPMDMyProc() == 0) {
      end_during(waits[i]);
    } else {
      await_end();
      OK(AMX_SPMDBarrier()); /* process 0 has come to it */
      OK(AM_Terminate());
    }
  }
  start();
  OK(AMX_SPMDBarrier());
  AMX_SPMDExit(failures != 0);
  return 1;
}
