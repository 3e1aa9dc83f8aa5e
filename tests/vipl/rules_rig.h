/* What the programs of VIPL's rules share: two connected VIs of one process for each case, what has
   been heard of them, and the loop over the cases. */
#ifndef VIADUCT_TESTS_VIPL_RULES_RIG_H
#define VIADUCT_TESTS_VIPL_RULES_RIG_H

#define _POSIX_C_SOURCE 200112L
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include "tests/vipl/rig.h"

HELPER Rig rig;
HELPER VIP_VI_HANDLE a, b; /* of the present case, connected */
HELPER int level;

HELPER VIP_DESCRIPTOR* room(int i) { return &rig.rooms[i].d; }

HELPER void post_receive(VIP_VI_HANDLE vi, int i, unsigned bytes) {
  WANT(VIP_SUCCESS,
       VipPostRecv(vi, fill(room(i), rig.there, bytes, rig.there_handle), rig.rooms_handle));
}

HELPER void post_send(VIP_VI_HANDLE vi, int i, unsigned bytes) {
  WANT(VIP_SUCCESS,
       VipPostSend(vi, fill(room(i), rig.bytes, bytes, rig.bytes_handle), rig.rooms_handle));
}

HELPER VIP_DESCRIPTOR* wait_send(VIP_VI_HANDLE vi, VIP_RETURN want) {
  VIP_DESCRIPTOR* d = NULL;
  WANT(want, VipSendWait(vi, LIMIT_MS, &d));
  return d;
}

HELPER VIP_DESCRIPTOR* wait_receive(VIP_VI_HANDLE vi, VIP_RETURN want) {
  VIP_DESCRIPTOR* d = NULL;
  WANT(want, VipRecvWait(vi, LIMIT_MS, &d));
  return d;
}

HELPER int is_on_shm(void) { return moves_by_shm(&rig); }

HELPER int is_reliable(void) { return level != VIP_SERVICE_UNRELIABLE; }

HELPER double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Messages of all sizes from one VI to the other. */
HELPER void send_arrives(void) {
  static const unsigned kSizes[] = {0, 1, 56, 57, 4096, 32768, BYTES};
  size_t i;
  unsigned n;
  VIP_DESCRIPTOR* d;
  for (i = 0; i < sizeof kSizes / sizeof *kSizes; ++i) {
    for (n = 0; n < kSizes[i]; ++n) rig.bytes[n] = (unsigned char)(n * 7 + i);
    memset(rig.there, 0xee, BYTES);
    post_receive(b, 0, BYTES);
    post_send(a, 1, kSizes[i]);
    d = wait_receive(b, VIP_SUCCESS);
    CHECK(d == room(0));
    CHECK(d->CS.Status == (VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE));
    CHECK(d->CS.Length == kSizes[i]);
    CHECK(memcmp(rig.bytes, rig.there, kSizes[i]) == 0);
    CHECK(kSizes[i] == BYTES || rig.there[kSizes[i]] == 0xee);
    d = wait_send(a, VIP_SUCCESS);
    CHECK(d == room(1));
    CHECK(d->CS.Status == (VIP_STATUS_DONE | VIP_STATUS_OP_SEND));
  }
}

/* Notifications and errors. */

HELPER pthread_mutex_t heard_lock = PTHREAD_MUTEX_INITIALIZER;
HELPER pthread_cond_t heard_more = PTHREAD_COND_INITIALIZER;
HELPER VIP_DESCRIPTOR* heard[8];
HELPER VIP_VI_HANDLE heard_vi;
HELPER int heard_count, heard_receive, heard_errors;
HELPER VIP_ERROR_DESCRIPTOR heard_error, heard_of_b;

HELPER void on_descriptor(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
                          VIP_DESCRIPTOR* d) {
  CHECK(context == &heard && nic == rig.nic);
  pthread_mutex_lock(&heard_lock);
  heard_vi = vi;
  heard[heard_count++ % 8] = d;
  pthread_cond_signal(&heard_more);
  pthread_mutex_unlock(&heard_lock);
}

HELPER void on_entry(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_BOOLEAN receive) {
  VIP_DESCRIPTOR* d = NULL;
  CHECK(context == &heard && nic == rig.nic);
  WANT(VIP_SUCCESS, VipRecvDone(vi, &d)); /* calls are allowed here */
  pthread_mutex_lock(&heard_lock);
  heard_vi = vi;
  heard_receive = receive;
  heard[heard_count++ % 8] = d;
  pthread_cond_signal(&heard_more);
  pthread_mutex_unlock(&heard_lock);
}

/* Waits until *count is n, at most 20 s. Returns *count. */
HELPER int wait_count(const int* count, int n) {
  struct timespec limit;
  int late = 0, now;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 20;
  pthread_mutex_lock(&heard_lock);
  while (*count < n && late == 0) late = pthread_cond_timedwait(&heard_more, &heard_lock, &limit);
  now = *count;
  pthread_mutex_unlock(&heard_lock);
  return now;
}

HELPER void wait_heard(int count) { CHECK(wait_count(&heard_count, count) == count); }

HELPER void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  CHECK(context == &rig);
  pthread_mutex_lock(&heard_lock);
  heard_error = *error;
  if (error->ViHandle == b) heard_of_b = *error;
  ++heard_errors;
  pthread_cond_signal(&heard_more);
  pthread_mutex_unlock(&heard_lock);
}

/* A VI may be seen in the error state before another thread of the library has called on_error().
   Returns how many errors have been heard of, at least one unless time has run out; `heard_error`
   does not change after that. */
HELPER int wait_errors(void) { return wait_count(&heard_errors, 1); }

/* Until both VIs have heard of the error of a reliable one. */
HELPER void wait_broken(void) {
  const double begin = seconds();
  while ((state_of(a) != VIP_STATE_ERROR || state_of(b) != VIP_STATE_ERROR) &&
         seconds() - begin < 20) {
  }
  CHECK(state_of(a) == VIP_STATE_ERROR && state_of(b) == VIP_STATE_ERROR);
  CHECK(wait_errors() >= 1 && heard_error.NicHandle == rig.nic &&
        heard_error.ResourceCode == VIP_RESOURCE_VI);
}

typedef struct {
  const char* name;
  void (*run)(void);
} Case;

/* Runs the cases, or those whose names have argv[1] in them, at every level. */
HELPER int run_cases(int argc, char** argv, const Case* cases, size_t count) {
  static const int kLevels[] = {VIP_SERVICE_RELIABLE_DELIVERY, VIP_SERVICE_RELIABLE_RECEPTION,
                                VIP_SERVICE_UNRELIABLE};
  size_t l, i;
  int failed = 0, passed = 0;
  setbuf(stdout, NULL);
  open_rig(&rig);
  WANT(VIP_SUCCESS, VipErrorCallback(rig.nic, &rig, on_error));
  CHECK(rig.attributes.MaxTransferSize >= 32768 && rig.attributes.ThreadSafe == VIP_TRUE);
  CHECK((rig.attributes.ReliabilityLevelSupport & VIP_SERVICE_RELIABLE_DELIVERY) != 0);
  for (l = 0; l < sizeof kLevels / sizeof *kLevels; ++l) {
    level = kLevels[l];
    if ((rig.attributes.ReliabilityLevelSupport & level) == 0) continue;
    for (i = 0; i < count; ++i) {
      const int before = failures;
      if (argc > 1 && strstr(cases[i].name, argv[1]) == NULL) continue;
      a = make_vi(&rig, level, NULL, NULL);
      b = make_vi(&rig, level, NULL, NULL);
      connect_both(&rig, a, b);
      heard_errors = 0;
      memset(&heard_of_b, 0, sizeof heard_of_b);
      cases[i].run();
      close_vi(a);
      close_vi(b);
      printf("%s level %d: %s\n", failures == before ? "ok  " : "FAIL", level, cases[i].name);
      if (failures == before)
        ++passed;
      else
        ++failed;
    }
  }
  WANT(VIP_SUCCESS, VipCloseNic(rig.nic));
  WANT(VIP_INVALID_PARAMETER, VipCloseNic(rig.nic));
  printf("%d passed, %d failed\n", passed, failed);
  return failures == 0 && passed > 0 ? 0 : 1;
}

#endif
