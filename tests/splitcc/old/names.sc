/* A program with names that the C library of its time had not, or declared in another way, and with functions that are
 * called before the file says what they are. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/types.h>
#include <split-c/split-c.h>

extern char *malloc(), *calloc();
int printf(), fprintf(), sprintf(), scanf(), sscanf(), fscanf();
extern int open(), fcntl(), ioctl(), execl();
double atof();
extern int gettimeofday(struct timeval *, struct timezone *);
void qsort(char *, int, int, int (*)());
typedef unsigned char key_t;
int index;
double y1, select;
extern int errno;
struct cell { int value; struct cell *next; };

log2(n) { int l = 0; while ((1 << l) < n) l++; return l; }
int round(x, to) { return (x + to - 1) / to * to; }
sync(from) { return from + 1; }
getline(line, most) char line[]; { return line[0] + most; }

static compare();

/* The runtime calls functions of the C library by these names. */
int strangers;
#define OWN if (magic != 42) strangers++; return magic
poll(magic) { OWN; }
write(magic) { OWN; }
read(magic) { OWN; }
close(magic) { OWN; }
connect(magic) { OWN; }
char *mmap(magic) { strangers += magic != 42; return 0; }
int clock_gettime(magic) { OWN; }
double sched_yield(magic) { OWN; }

splitc_main()
{
    char *line = malloc(100), *strcpy();
    key_t keys[4], *global far = keys;
    struct cell *list;
    struct timeval now;
    int number, sscanf();

    index = log2(9) + round(5, 4);
    if (index != 12 || exp2_of(3) != 8) exit(1);
    strcpy(line, "a");
    if (getline(line, 10) != 'a' + 10) exit(2);
    sprintf(line, "%d %g", 17, 2.5);
    if (sscanf(line, "%d", &number) != 1 || number != 17 || strcmp(line, "17 2.5")) exit(9);
    if (fcntl(open("/dev/null", O_RDWR), F_GETFL) < 0) exit(10);
    far[1] = 300;
    if (keys[1] != 44 || sizeof(keys) != 4) exit(3);
    gettimeofday(&now, (struct timezone *) 0);
    if (now.tv_sec < 1000) exit(4);
    list = new_cell(1, new_cell(2, 0));
    if (list->next->value != 2 || length(list) != 2) exit(5);
    y1 = select = 2;
    set(list, 7);
    if (list->value != 7 || half(3.0) != 1.5) exit(6);
    qsort((char *) keys, 4, sizeof(key_t), compare);
    if (poll(42) + write(42) + read(42) + close(42) + connect(42) + sched_yield(42) != 6 * 42) exit(7);
    barrier();
    all_reduce_to_all_add(1);
    get_seconds();
    free(all_malloc(100) ? calloc(1000, 1000) : 0);
    barrier();
    if (strangers) exit(8);
    if (sync(1) != 2) exit(11);
    if (open("/dev/null/nothing", O_RDWR) >= 0 || errno == 0) exit(12);
    if (strcmp("in " __FUNCTION__ "(): ", "in splitc_main(): ")) exit(13);
    if (far + 2 - keys != 2 || keys + 3 - far != 3) exit(14);
}

own_structures(g, p, q, d) struct { int x; } *global g, *p; struct two { int y; } *q; double d; { return g->x + p->x + q->y; }
static compare(a, b) key_t *a, *b; { return *a - *b; }
static double exp2_of(n) { return n == 0 ? 1 : 2 * exp2_of(n - 1); }
struct cell *new_cell(value, next) struct cell *next;
{
    struct cell *c = (struct cell *) calloc(1, sizeof(struct cell));
    c->value = value;
    c->next = next;
    return c;
}
static int length(c) struct cell *c; { return c ? 1 + length(c->next) : 0; }
void set(c, value) struct cell *c; { c->value = value; }
float half(float x) { return x / 2; }
