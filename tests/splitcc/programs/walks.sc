/* Loops that step through memory of every process: each access must be at its own place, whatever the one before was, and
 * a loop must serve the others meanwhile. */
#include <split-c/split-c.h>
#include <stdio.h>

enum { COUNT = 700 };

static int words[PROCS]::[COUNT];
static double reals[PROCS]::[COUNT];
static char bytes[PROCS]::[COUNT];
static short row[PROCS * COUNT]::;
static int flags[PROCS]::[4];
static int failures;

#define CHECK(x) \
  if (!(x)) failures++, fprintf(stderr, "%d: line %d: %s\n", MYPROC, __LINE__, #x)

static int *global words_of(int process) { return (int *global)&words[process][0]; }

/* Up, down, by two, by an index that begins in the middle. */
static void whole(int process) {
  int *global g = words_of(process);
  int i, j;
  long sum = 0;

  for (i = 0; i < COUNT; i++) sum += *g++;
  CHECK(sum == (long)COUNT * (COUNT - 1) / 2 + (long)COUNT * 1000 * process);
  for (; i > 0; i--) {
    --g;
    CHECK(*g == 1000 * process + i - 1);
  }
  for (i = 0; i < COUNT; i += 2) {
    CHECK(*g == 1000 * process + i);
    g += 2;
  }
  g = words_of(process);
  for (j = 0; j < 5; j++)
    for (i = 300; i < 320; i++) CHECK(g[i] == 1000 * process + i);
  for (i = COUNT - 1; i >= 0; i--) CHECK(g[i] == 1000 * process + i);
  for (i = 1; i < COUNT; i++) CHECK(g[i - 1] + 1 == g[i]);
}

/* One access that the pointers of several processes and arrays take turns in. */
static void in_turn() {
  int i;

  for (i = 0; i < 4 * COUNT; i++) {
    int *global g = words_of(i % PROCS);
    CHECK(g[i / 4] == 1000 * (i % PROCS) + i / 4);
  }
  for (i = 0; i < PROCS * COUNT; i++) CHECK(row[i] == i % 1000);
  for (i = PROCS * COUNT - 1; i >= 0; i--) CHECK(row[i] == i % 1000);
}

/* What is next to a word must stay. */
static void writes(int process) {
  double *global d = (double *global)&reals[process][0];
  char *global c = (char *global)&bytes[process][0];
  int i;

  for (i = 0; i < COUNT; i++) *d++ = i / 2.0;
  for (i = 0; i < COUNT; i++) c[i] = i;
  for (i = COUNT - 1; i >= 0; i--) {
    *--d += 1;
    c[i]++;
  }
  for (i = 0; i < COUNT; i++) {
    CHECK(d[i] == i / 2.0 + 1);
    CHECK(c[i] == (char)(i + 1));
  }
}

/* A nested function has walks of its own. */
static int nested(int *global g) {
  int sum = 0;
  int part(int from, int to) {
    int i, mine = 0;
    for (i = from; i < to; i++) mine += g[i];
    return mine;
  }
  int k;
  for (k = 0; k < COUNT; k += 100) sum += part(k, k + 100) - g[k];
  return sum;
}

/* The flag comes as a message, which a loop that only looks at it must serve. */
static void waits_in_a_loop() {
  int *global mine = (int *global)&flags[MYPROC][0];
  int next = (MYPROC + 1) % PROCS;
  int i, found = 0;

  flags[next][3] :- 1;
  while (!found)
    for (i = 0; i < 4; i++)
      if (mine[i]) found = i;
  CHECK(found == 3);
  all_store_sync();
}

int splitc_main() {
  int *mine = tolocal(words_of(MYPROC));
  int i, k;

  for (i = 0; i < COUNT; i++) mine[i] = 1000 * MYPROC + i;
  for (i = MYPROC; i < PROCS * COUNT; i += PROCS) row[i] = i % 1000;
  barrier();
  for (k = 0; k < PROCS; k++) whole(k);
  in_turn();
  CHECK(nested(words_of(0)) == COUNT * (COUNT - 1) / 2 - 7 * 300);
  barrier();
  writes((MYPROC + 1) % PROCS);
  barrier();
  waits_in_a_loop();
  barrier();
  return failures != 0;
}
