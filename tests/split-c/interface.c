/* The C-callable interface by hand: what splitcc's output calls, in plain C. */

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/split-c/check.h"

#define COUNT 9

typedef struct {
  char tag;
  double values[11];
  short tail;
} block; /* not a word's size, and more than a line of a ring holds */

/* Static data of every process, at the same address in all. */
static unsigned char bytes_[64];
static unsigned short halves_[64];
static unsigned int words_[64];
static unsigned long longs_[64];
static float floats_[64];
static double doubles_[64];
static block blocks_[64];

static int next(void) { return (MYPROC + 1) % PROCS; }
static int previous(void) { return (MYPROC + PROCS - 1) % PROCS; }

static void words_and_arithmetic(void) {
  int x = 0;
  vsc_word here = vsc_global(&x);
  long i, procs = PROCS;
  vsc_word base = vsc_make(0, (void*)0x10000);

  CHECK(vsc_process(here) == MYPROC && vsc_local(here) == &x);
  CHECK(vsc_global(0) == 0 && vsc_toglobal(3, 0) == 0 && !vsc_is(0));
  CHECK(vsc_is(here) && vsc_equal(here, here) && !vsc_equal(here, 0));
  CHECK(vsc_equal(0, vsc_make(2, 0))); /* null is null, whatever its process */
  CHECK(vsc_process(vsc_add(vsc_make(5, (void*)64), -64)) == 5);
  CHECK(vsc_process(vsc_add(vsc_make(5, (void*)64), 1000)) == 5);
  CHECK(vsc_difference(vsc_add(here, 24), here, 8) == 3);
  for (i = -3 * procs; i <= 3 * procs; ++i) {
    vsc_word p = vsc_spread_add(base, i, 12);
    long row = (long)floor((double)i / (double)procs);

    CHECK(vsc_process(p) == (int)(i - row * procs));
    CHECK((long)vsc_local(p) == 0x10000 + 12 * row);
    CHECK(vsc_spread_difference(p, base, 12) == i);
    CHECK(vsc_spread_add(p, -i, 12) == base);
    CHECK((vsc_spread_rank(p) < vsc_spread_rank(base)) == (i < 0));
  }
  CHECK((PROCSLOG < 0) == ((PROCS & (PROCS - 1)) != 0));
  CHECK(PROCSLOG < 0 || 1 << PROCSLOG == PROCS);
}

/* Writes into the next process' objects, and reads what the previous one has written here. */
static void reads_and_writes(void) {
  int to = next(), i;
  block mine, back;

  memset(&mine, 0, sizeof(mine));
  for (i = 0; i < COUNT; ++i) {
    CHECK(vsc_write1(vsc_toglobal(to, bytes_ + i), (unsigned char)(MYPROC + i)) == MYPROC + i);
    vsc_write2(vsc_toglobal(to, halves_ + i), (unsigned short)(300 * MYPROC + i));
    vsc_write4(vsc_toglobal(to, words_ + i), (unsigned)(70000 * MYPROC + i));
    vsc_write8(vsc_toglobal(to, longs_ + i),
               5000000000UL * (unsigned long)MYPROC + (unsigned long)i);
    vsc_write_f(vsc_toglobal(to, floats_ + i), (float)MYPROC + 0.5f);
    CHECK(vsc_write_d(vsc_toglobal(to, doubles_ + i), MYPROC / 3.0) == MYPROC / 3.0);
    mine.tag = (char)i;
    mine.values[10] = MYPROC + i;
    mine.tail = (short)-i;
    vsc_write(vsc_toglobal(to, blocks_ + i), &mine, sizeof(mine));
  }
  barrier();
  for (i = 0; i < COUNT; ++i) {
    int from = previous();

    CHECK(bytes_[i] == from + i && halves_[i] == 300 * from + i);
    CHECK(words_[i] == (unsigned)(70000 * from + i));
    CHECK(longs_[i] == 5000000000UL * (unsigned long)from + (unsigned long)i);
    CHECK(floats_[i] == (float)from + 0.5f && doubles_[i] == from / 3.0);
    CHECK(blocks_[i].tag == i && blocks_[i].values[10] == from + i && blocks_[i].tail == -i);

    CHECK(vsc_read1(vsc_toglobal(to, bytes_ + i)) == MYPROC + i);
    CHECK(vsc_read2(vsc_toglobal(to, halves_ + i)) == 300 * MYPROC + i);
    CHECK(vsc_read4(vsc_toglobal(to, words_ + i)) == (unsigned)(70000 * MYPROC + i));
    CHECK(vsc_read8(vsc_toglobal(to, longs_ + i)) ==
          5000000000UL * (unsigned long)MYPROC + (unsigned long)i);
    CHECK(vsc_read_f(vsc_toglobal(to, floats_ + i)) == (float)MYPROC + 0.5f);
    CHECK(vsc_read_d(vsc_toglobal(to, doubles_ + i)) == MYPROC / 3.0);
    vsc_read(&back, vsc_toglobal(to, blocks_ + i), sizeof(back));
    CHECK(back.tag == i && back.values[10] == MYPROC + i && back.tail == -i);
  }
  barrier();
}

/* The same for memory of malloc, of the stack, and spread memory. */
static void everywhere(void) {
  static vsc_word places[3];
  int on_stack = 100 + MYPROC, k;
  int* in_heap = (int*)malloc(sizeof(int));
  vsc_word array = all_spread_malloc((unsigned long)PROCS, sizeof(int));

  *in_heap = 200 + MYPROC;
  *(int*)vsc_local(array) = 300 + MYPROC;
  places[0] = vsc_global(&on_stack);
  places[1] = vsc_global(in_heap);
  places[2] = vsc_spread_add(array, MYPROC, sizeof(int));
  barrier();
  for (k = 0; k < 3; ++k) {
    vsc_word there = vsc_read8(vsc_toglobal(next(), places + k));

    CHECK(vsc_process(there) == next());
    CHECK(vsc_read4(there) == (unsigned)(100 * (k + 1) + next()));
  }
  barrier();
  for (k = 0; k < 3; ++k)
    vsc_write4(vsc_read8(vsc_toglobal(next(), places + k)), (unsigned)(1000 * k + MYPROC));
  barrier();
  CHECK(on_stack == previous() && *in_heap == 1000 + previous());
  CHECK(*(int*)vsc_local(array) == 2000 + previous());
  barrier();
  all_spread_free(array);
  free(in_heap);
}

static void split_phase(void) {
  unsigned char b = 0;
  unsigned short h = 0;
  unsigned int w = 0;
  unsigned long l = 0;
  block mine, back;
  int i;

  memset(&mine, 0, sizeof(mine));
  mine.values[3] = 7.5 + MYPROC;
  vsc_put1(vsc_toglobal(next(), bytes_ + 20), (unsigned char)(20 + MYPROC));
  vsc_put2(vsc_toglobal(next(), halves_ + 20), (unsigned short)(21 + MYPROC));
  vsc_put4(vsc_toglobal(next(), words_ + 20), (unsigned)(22 + MYPROC));
  vsc_put8(vsc_toglobal(next(), longs_ + 20), (unsigned long)(23 + MYPROC));
  vsc_put_d(vsc_toglobal(next(), doubles_ + 20), 24.5 + MYPROC);
  vsc_put(vsc_toglobal(next(), blocks_ + 20), &mine, sizeof(mine));
  memset(&mine, 1, sizeof(mine)); /* may be changed at once */
  splitc_sync();
  CHECK(is_sync());
  barrier();
  CHECK(bytes_[20] == 20 + previous() && halves_[20] == 21 + previous());
  CHECK(words_[20] == (unsigned)(22 + previous()) &&
        longs_[20] == (unsigned long)(23 + previous()));
  CHECK(doubles_[20] == 24.5 + previous() && blocks_[20].values[3] == 7.5 + previous());

  vsc_get1(&b, vsc_toglobal(next(), bytes_ + 20));
  vsc_get2(&h, vsc_toglobal(next(), halves_ + 20));
  vsc_get4(&w, vsc_toglobal(next(), words_ + 20));
  vsc_get8(&l, vsc_toglobal(next(), longs_ + 20));
  vsc_get(&back, vsc_toglobal(next(), blocks_ + 20), sizeof(back));
  splitc_sync();
  CHECK(b == 20 + MYPROC && h == 21 + MYPROC && w == (unsigned)(22 + MYPROC));
  CHECK(l == (unsigned long)(23 + MYPROC) && back.values[3] == 7.5 + MYPROC);

  barrier();
  for (i = 0; i < 500; ++i) vsc_put4(vsc_toglobal(next(), words_ + i % 60), (unsigned)i);
  splitc_sync();
  barrier();
  for (i = 480; i < 500; ++i) CHECK(words_[i % 60] == (unsigned)i);
  barrier();
}

/* Stores of all sizes; every byte is counted once. */
static void stores(void) {
  enum { kLarge = 20000 };
  static char large[kLarge], sent[kLarge];
  block mine;
  int i;

  for (i = 0; i < kLarge; ++i) sent[i] = (char)(i * 7 + MYPROC);
  memset(&mine, 0, sizeof(mine));
  mine.values[5] = MYPROC + 0.25;
  vsc_store1(vsc_toglobal(next(), bytes_ + 30), (unsigned char)(30 + MYPROC));
  vsc_store2(vsc_toglobal(next(), halves_ + 30), (unsigned short)(31 + MYPROC));
  vsc_store4(vsc_toglobal(next(), words_ + 30), (unsigned)(32 + MYPROC));
  vsc_store8(vsc_toglobal(next(), longs_ + 30), (unsigned long)(33 + MYPROC));
  vsc_store_d(vsc_toglobal(next(), doubles_ + 30), 34.5 + MYPROC);
  vsc_store(vsc_toglobal(next(), blocks_ + 30), &mine, sizeof(mine));
  store_sync(1 + 2 + 4 + 8 + 8 + sizeof(mine));
  CHECK(bytes_[30] == 30 + previous() && halves_[30] == 31 + previous());
  CHECK(words_[30] == (unsigned)(32 + previous()) &&
        longs_[30] == (unsigned long)(33 + previous()));
  CHECK(doubles_[30] == 34.5 + previous() && blocks_[30].values[5] == previous() + 0.25);
  CHECK(!is_store_sync(1));
  barrier();

  bulk_store(vsc_toglobal(next(), large), sent, 3000);
  bulk_store(vsc_toglobal(next(), large + 3000), sent + 3000, kLarge - 3000);
  store_sync(kLarge);
  for (i = 0; i < kLarge; ++i) CHECK(large[i] == (char)(i * 7 + previous()));
  barrier();

  /* barrier() completes no stores, but their bytes stay counted; all_store_sync() leaves none. */
  vsc_store4(vsc_toglobal(next(), words_ + 31), 1);
  barrier();
  store_sync(4);
  vsc_store4(vsc_toglobal(next(), words_ + 31), 2);
  all_store_sync();
  CHECK(words_[31] == 2 && !is_store_sync(1));
  barrier();
  vsc_store4(vsc_toglobal(next(), words_ + 31), 3);
  store_sync(4);
  reset_store_sync();
  CHECK(!is_store_sync(1));
  barrier();
}

/* A store is delivered where its target polls, and not before, however long that is. In memory that
 * is mapped in every build, so that a write needs no poll. */
static void stores_wait_for_polls(void) {
  const char* path = getenv("VIADUCT_SPLITC_PATH");
  volatile unsigned int *stored, *told;

  if (path != 0 && strcmp(path, "message") == 0) return; /* no one-sided write to tell it by */
  stored = (volatile unsigned int*)all_malloc(2 * sizeof(*stored));
  told = stored + 1;
  barrier();
  if (PROCS > 1 && MYPROC == 0) {
    vsc_store4(vsc_toglobal(1, stored), 77);
    bulk_store(vsc_toglobal(1, longs_), longs_, 8);
    vsc_write4(vsc_toglobal(1, told), 1);
  }
  if (MYPROC == 1) {
    while (*told == 0) usleep(10); /* no poll point */
    CHECK(*stored == 0);
    store_sync(12);
    CHECK(*stored == 77);
  }
  all_store_sync();
  all_free((void*)(size_t)stored);
}

/* What is sent after a collective call is not delivered inside it: not even where the target is
 * still waiting there, and polls, when the sender is through. */
static void calls_end_together(void) {
  enum { kTurns = 300, kLarge = 6000 };
  static unsigned int small;
  static char large[kLarge];
  char* sent = (char*)malloc(kLarge);
  int turn;

  for (turn = 0; turn < kTurns; ++turn) {
    unsigned int before = small;
    char before_large = large[kLarge - 1];

    memset(sent, turn, kLarge);
    if (turn % 3 == 0) barrier();
    if (turn % 3 == 1) CHECK(all_reduce_to_all_add(1) == PROCS);
    if (turn % 3 == 2) all_store_sync();
    CHECK(small == before && large[kLarge - 1] == before_large);
    vsc_store4(vsc_toglobal(next(), &small), (unsigned)turn + 1);
    if (turn % 5 == 0) bulk_store(vsc_toglobal(next(), large), sent, kLarge);
    store_sync(turn % 5 == 0 ? 4 + kLarge : 4);
    CHECK(small == (unsigned)turn + 1);
  }
  free(sent);
}

static void blocks_of_memory(void) {
  enum { kBytes = 100000 };
  static char target[kBytes];
  char *mine = (char*)malloc(kBytes), *back = (char*)malloc(kBytes);
  int i;

  for (i = 0; i < kBytes; ++i) mine[i] = (char)(i + 3 * MYPROC);
  bulk_write(vsc_toglobal(next(), target), mine, kBytes / 2);
  bulk_put(vsc_toglobal(next(), target + kBytes / 2), mine + kBytes / 2, kBytes / 2);
  splitc_sync();
  barrier();
  for (i = 0; i < kBytes; ++i) CHECK(target[i] == (char)(i + 3 * previous()));
  bulk_read(back, vsc_toglobal(next(), target), kBytes / 2);
  bulk_get(back + kBytes / 2, vsc_toglobal(next(), target + kBytes / 2), kBytes / 2);
  splitc_sync();
  CHECK(memcmp(mine, back, kBytes) == 0);
  bulk_read(back, vsc_toglobal(next(), target), 0);
  bulk_store(vsc_toglobal(next(), target), mine, 0);
  barrier();
  free(mine);
  free(back);
}

int splitc_main(int argc, char** argv) {
  CHECK(argc == 2 && strcmp(argv[1], "argument") == 0 && argv[2] == 0);
  words_and_arithmetic();
  reads_and_writes();
  everywhere();
  split_phase();
  stores();
  stores_wait_for_polls();
  calls_end_together();
  blocks_of_memory();
  CHECK(get_seconds() > 0 && get_ctr() > 0);
  return all_reduce_to_all_add(failures_) != 0;
}
