/* How programs end, and what they are stopped for: one way for each argument. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/split-c/check.h"

static int served_;
static vsc_word array_;

static void thunk_that_exits(const void* arguments, void* result) {
  (void)arguments;
  (void)result;
  exit(6);
}

static void thunk_that_does_nothing(const void* arguments, void* result) {
  (void)arguments;
  (void)result;
}
static void call_at(vsc_word object, void (*thunk)(const void*, void*)) {
  void* const local = vsc_local(object);
  vsc_atomic(object, thunk, &local, sizeof local, 0, 0);
}

static int by_exiting(const void* a, const void* b) {
  (void)a;
  (void)b;
  exit(0);
}

static void one_size(void) { vsc_static_spread(&array_, 4, 8, "shared_", "first.sc", 10); }
static void another_size(void) { vsc_static_spread(&array_, 5, 8, "shared_", "second.sc", 20); }
static struct vsc_unit first_ = {0, one_size}, second_ = {0, another_size};

static void vast(void) { vsc_static_spread(&array_, 100, 1UL << 45, "vast_", "vast.sc", 30); }
static struct vsc_unit vast_ = {0, vast};

/* Before main, as compiled units do; the arguments are not there yet. */
__attribute__((constructor)) static void register_units(void) {
  const char* how = getenv("ENDS");

  if (how != 0 && strcmp(how, "static_mismatch") == 0) {
    vsc_register_unit(&first_);
    vsc_register_unit(&second_);
  }
  if (how != 0 && strcmp(how, "vast") == 0) vsc_register_unit(&vast_);
}

static void automatic(unsigned long n, const char* name, int line) {
  vsc_word a __attribute__((cleanup(vsc_auto_free))) = vsc_auto_spread(n, 4, name, "ends.sc", line);
  (void)a;
}

/* Process 0 leaves early by exit(0); the others find its memory still there. */
static int early(void) {
  served_ = 11 + MYPROC;
  barrier();
  if (MYPROC == 0) exit(0);
  return vsc_read4(vsc_toglobal(0, &served_)) != 11;
}

int splitc_main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  int numbers[2] = {2, 1};

  if (strcmp(how, "early") == 0) return early();
  if (strcmp(how, "exit_everywhere") == 0) exit(0);
  if (strcmp(how, "exit_nested") == 0) qsort(numbers, 2, sizeof(int), by_exiting);
  if (strcmp(how, "exit_3") == 0 && MYPROC == PROCS - 1) exit(3);
  if (strcmp(how, "splitc_exit_4") == 0) splitc_exit(4);
  if (strcmp(how, "return_5") == 0) return 5;
  if (strcmp(how, "exit_in_atomic") == 0) call_at(vsc_toglobal(0, &served_), thunk_that_exits);
  if (strcmp(how, "atomic_null") == 0) call_at(0, thunk_that_does_nothing);
  if (strcmp(how, "atomic_nowhere") == 0)
    call_at(vsc_toglobal(PROCS - 1, (void*)0x12340), thunk_that_does_nothing);
  if (strcmp(how, "not_collective") == 0) {
    if (MYPROC == 0) automatic(8, "only_here", 123);
    barrier();
  }
  if (strcmp(how, "not_collective_call") == 0) {
    if (MYPROC == 0) (vsc_at("ends.sc", 200), all_spread_malloc(10, 8));
    (vsc_at("ends.sc", 201), barrier());
  }
  if (strcmp(how, "other_bounds") == 0)
    automatic(8 + (MYPROC == 0 ? (unsigned long)PROCS : 0), "bounds", 124);
  if (strcmp(how, "negative") == 0) automatic((unsigned long)-3, "below", 125);
  if (strcmp(how, "null") == 0) return (int)vsc_read4(0);
  if (strcmp(how, "no_process") == 0) return (int)vsc_read4(vsc_make(4000, &served_));
  if (strcmp(how, "no_process_alike") == 0)
    return (int)vsc_read4(vsc_toglobal(4000, all_malloc(4)));
  barrier();
  return 0;
}
