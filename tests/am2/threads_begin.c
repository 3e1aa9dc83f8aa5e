/* Several threads make the first AM_Init, all at once. */
#define _POSIX_C_SOURCE 199506L
#include <pthread.h>

#include "tests/am2/rig.h"

#define THREADS 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static int here;

static void meet(void) {
  (void)pthread_mutex_lock(&mutex);
  if (++here == THREADS) (void)pthread_cond_broadcast(&all_here);
  while (here < THREADS) (void)pthread_cond_wait(&all_here, &mutex);
  (void)pthread_mutex_unlock(&mutex);
}

static void* begin(void* result) {
  meet();
  *(int*)result = AM_Init();
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  int results[THREADS];
  Rig rig;
  int i;
  setbuf(stdout, NULL);
  for (i = 0; i < THREADS; ++i)
    if (pthread_create(&threads[i], NULL, begin, &results[i]) != 0) exit(2);
  for (i = 0; i < THREADS; ++i) (void)pthread_join(threads[i], NULL);
  for (i = 0; i < THREADS; ++i) CHECK(results[i] == AM_OK);
  open_rig(&rig);
  close_rig(&rig);
  for (i = 0; i < THREADS; ++i) OK(AM_Terminate());
  WANT(AM_ERR_NOT_INIT, AM_Terminate());
  return finish();
}
