/* A handler makes a thread while the process' only thread is in a call, and then calls the
   interface itself. The thread makes its first call when the call has returned; with the argument
   "early" it does so before, which stops the program. */
#define _POSIX_C_SOURCE 199506L
#include <pthread.h>
#include <unistd.h>

#include "tests/am2/rig.h"

static eb_t bundle, far;
static ep_t ep, sender;
static pthread_t thread;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_early, may_call, heard;
#define MESSAGES 1000

static void set(int* what, int value) {
  (void)pthread_mutex_lock(&mutex);
  *what = value;
  (void)pthread_cond_broadcast(&changed);
  (void)pthread_mutex_unlock(&mutex);
}
static int get(const int* what) {
  int value;
  (void)pthread_mutex_lock(&mutex);
  value = *what;
  (void)pthread_mutex_unlock(&mutex);
  return value;
}

/* From its first call on the bundle is served by this thread alone, to the last message. */
static void* call(void* failed) {
  (void)pthread_mutex_lock(&mutex);
  while (!may_call) (void)pthread_cond_wait(&changed, &mutex);
  (void)pthread_mutex_unlock(&mutex);
  while (get(&heard) <= MESSAGES)
    if (AM_Poll(bundle) != AM_OK) *(int*)failed = 1;
  return NULL;
}
static int call_failed;

static void on_make(void* token) {
  tag_t tag;
  (void)token;
  if (pthread_create(&thread, NULL, call, &call_failed) != 0) exit(2);
  OK(AM_GetTag(ep, &tag));
  if (!is_early) return;
  set(&may_call, 1);
  (void)pthread_join(thread, NULL); /* the thread stops the program */
}
static void on_count(void* token) {
  (void)token;
  set(&heard, get(&heard) + 1);
}

int main(int argc, char** argv) {
  en_t name, own;
  int i;
  setbuf(stdout, NULL);
  is_early = argc > 1 && strcmp(argv[1], "early") == 0;
  OK(AMX_SPMDStartup(&argc, &argv, 0, NULL, &bundle, &ep));
  OK(AM_AllocateBundle(AM_SEQ, &far));
  OK(AM_AllocateEndpoint(far, &sender, &name));
  OK(AM_SetTag(ep, TAG));
  OK(AM_GetTranslationName(ep, 0, &own));
  OK(AM_Map(sender, 0, own, TAG));
  OK(AM_SetHandler(ep, 1, on_make));
  OK(AM_SetHandler(ep, 2, on_count));
  OK(AM_Request0(sender, 0, 2)); /* connects */
  while (get(&heard) == 0) OK(AM_Poll(bundle));
  OK(AM_Request0(sender, 0, 1));
  OK(AMX_SPMDBarrier()); /* handles it */
  set(&may_call, 1);
  for (i = 0; i < MESSAGES; ++i) OK(AM_Request0(sender, 0, 2));
  (void)pthread_join(thread, NULL);
  CHECK(call_failed == 0);
  if (failures == 0) printf("all right\n");
  AMX_SPMDExit(failures != 0);
  return 1;
}
