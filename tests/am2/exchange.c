/* As programs of the nineties were written: two processes that nobody introduces to each other
 * write their endpoints' names into files, map each other, and exchange short, medium and bulk
 * messages. The one that is asked sleeps in AM_WaitSema; the one that asks polls.
 *
 * usage: exchange DIRECTORY asker|asked
 */
#include <am.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>

#define H_ERROR 0
#define H_PING 1
#define H_PONG 2
#define H_TEXT 3
#define H_GOT_TEXT 4
#define H_BLOCK 5
#define H_GOT_BLOCK 6
#define H_FETCHED 7
#define H_BYE 8

#define KEY 0x5ca1ab1e
#define ROUNDS 200
#define SEGMENT 65536

static eb_t bundle;
static ep_t endpoint;
static double segment[SEGMENT / sizeof(double)];
static int pongs, texts, blocks, fetched, bye, errors;

static void check(what, rc) char* what;
int rc;
{
  if (rc == AM_OK) return;
  fprintf(stderr, "%s failed: %d\n", what, rc);
  exit(1);
}

static void on_error(status, opcode, argblock) int status;
op_t opcode;
void* argblock;
{
  (void)argblock;
  fprintf(stderr, "message of kind %d came back: %d\n", (int)opcode, status);
  ++errors;
}

static void on_ping(token, a, b, c, d) void* token;
int a, b, c, d;
{ check("AM_Reply4", AM_Reply4(token, H_PONG, a, b, c, d)); }

static void on_pong(token, a, b, c, d) void* token;
int a, b, c, d;
{
  (void)token;
  if (a != pongs || b != -a || c != 2 * a || d != KEY) ++errors;
  ++pongs;
}

static void on_text(token, buf, nbytes, sum) void* token;
void* buf;
int nbytes, sum;
{
  int i, is = 0;
  for (i = 0; i < nbytes; ++i) is += ((unsigned char*)buf)[i];
  check("AM_ReplyI1", AM_ReplyI1(token, H_GOT_TEXT, buf, (size_t)nbytes, is - sum));
}

static void on_got_text(token, buf, nbytes, difference) void* token;
void* buf;
int nbytes, difference;
{
  (void)token;
  if (difference != 0 || nbytes != 26 || memcmp(buf, "abcdefghijklmnopqrstuvwxyz", 26) != 0)
    ++errors;
  ++texts;
}

static void on_block(token, buf, nbytes) void* token;
void* buf;
int nbytes;
{
  double* numbers = (double*)buf;
  int i;
  for (i = 0; i < nbytes / (int)sizeof(double); ++i) numbers[i] = 2 * numbers[i];
  check("AM_ReplyXfer0", AM_ReplyXfer0(token, 0, H_GOT_BLOCK, buf, (size_t)nbytes));
}

static void on_got_block(token, buf, nbytes) void* token;
void* buf;
int nbytes;
{
  double* numbers = (double*)buf;
  int i;
  (void)token;
  for (i = 0; i < nbytes / (int)sizeof(double); ++i)
    if (numbers[i] != 2.0 * i) ++errors;
  ++blocks;
}

static void on_fetched(token, buf, nbytes, tag) void* token;
void* buf;
int nbytes, tag;
{
  (void)token;
  if (nbytes != 800 || tag != 99 || ((double*)buf)[3] != 6.0) ++errors;
  ++fetched;
}

static void on_bye(token) void* token;
{
  (void)token;
  bye = 1;
}

static void write_name(directory, who, name) char *directory, *who;
en_t name;
{
  char path[300], draft[300];
  FILE* file;
  sprintf(path, "%s/%s", directory, who);
  sprintf(draft, "%s/%s.draft", directory, who);
  file = fopen(draft, "w");
  if (file == NULL || fwrite((char*)&name, sizeof name, 1, file) != 1 || fclose(file) != 0 ||
      rename(draft, path) != 0) {
    perror(path);
    exit(1);
  }
}

static en_t read_name(directory, who)
char *directory, *who;
{
  char path[300];
  FILE* file;
  en_t name;
  int tries;
  struct timeval nap;
  sprintf(path, "%s/%s", directory, who);
  for (tries = 0; tries < 3000; ++tries) {
    file = fopen(path, "r");
    if (file != NULL) {
      if (fread((char*)&name, sizeof name, 1, file) == 1) {
        fclose(file);
        return name;
      }
      fclose(file);
    }
    nap.tv_sec = 0;
    nap.tv_usec = 10000;
    select(0, NULL, NULL, NULL, &nap);
  }
  fprintf(stderr, "nobody has written %s\n", path);
  exit(1);
}

static void ask() {
  int i, sum = 0;
  char* text = "abcdefghijklmnopqrstuvwxyz";
  for (i = 0; i < ROUNDS; ++i) {
    check("AM_Request4", AM_Request4(endpoint, 0, H_PING, i, -i, 2 * i, KEY));
    while (pongs <= i) check("AM_Poll", AM_Poll(bundle));
  }
  for (i = 0; i < 26; ++i) sum += text[i];
  for (i = 0; i < 10; ++i) check("AM_RequestI1", AM_RequestI1(endpoint, 0, H_TEXT, text, 26, sum));
  while (texts < 10) check("AM_Poll", AM_Poll(bundle));
  for (i = 0; i < SEGMENT / (int)sizeof(double); ++i) segment[i] = i;
  check("AM_RequestXfer0", AM_RequestXfer0(endpoint, 0, 0, H_BLOCK, segment, SEGMENT));
  while (blocks < 1) check("AM_Poll", AM_Poll(bundle));
  memset(segment, 0, sizeof segment);
  check("AM_GetXfer1", AM_GetXfer1(endpoint, 0, 0, H_FETCHED, 1600, 800, 99));
  while (fetched < 1) check("AM_Poll", AM_Poll(bundle));
  if (segment[203] != 6.0) ++errors;
  check("AM_Request0", AM_Request0(endpoint, 0, H_BYE));
}

static void answer() {
  int mask;
  check("AM_SetEventMask", AM_SetEventMask(bundle, AM_NOTEMPTY));
  check("AM_GetEventMask", AM_GetEventMask(bundle, &mask));
  if (mask != AM_NOTEMPTY) ++errors;
  while (!bye) {
    check("AM_WaitSema", AM_WaitSema(bundle));
    check("AM_Poll", AM_Poll(bundle));
  }
}

int main(argc, argv)
int argc;
char** argv;
{
  en_t mine, other, found;
  tag_t tag;
  int asks;
  if (argc != 3) {
    fprintf(stderr, "usage: %s directory asker|asked\n", argv[0]);
    exit(2);
  }
  asks = strcmp(argv[2], "asker") == 0;
  check("AM_Init", AM_Init());
  check("AM_AllocateBundle", AM_AllocateBundle(AM_SEQ, &bundle));
  check("AM_AllocateEndpoint", AM_AllocateEndpoint(bundle, &endpoint, &mine));
  check("AM_SetTag", AM_SetTag(endpoint, (tag_t)KEY));
  check("AM_SetSeg", AM_SetSeg(endpoint, segment, sizeof segment));
  check("AM_SetHandler", AM_SetHandler(endpoint, H_ERROR, on_error));
  check("AM_SetHandler", AM_SetHandler(endpoint, H_PING, on_ping));
  check("AM_SetHandler", AM_SetHandler(endpoint, H_PONG, on_pong));
  check("AM_SetHandler", AM_SetHandler(endpoint, H_TEXT, on_text));
  check("AM_SetHandler", AM_SetHandler(endpoint, H_GOT_TEXT, on_got_text));
  check("AM_SetHandler", AM_SetHandler(endpoint, H_BLOCK, on_block));
  check("AM_SetHandler", AM_SetHandler(endpoint, H_GOT_BLOCK, on_got_block));
  check("AM_SetHandler", AM_SetHandler(endpoint, H_FETCHED, on_fetched));
  check("AM_SetHandler", AM_SetHandler(endpoint, H_BYE, on_bye));
  write_name(argv[1], argv[2], mine);
  other = read_name(argv[1], asks ? "asked" : "asker");
  check("AM_Map", AM_Map(endpoint, 0, other, (tag_t)KEY));
  check("AM_SetExpectedResources", AM_SetExpectedResources(endpoint, 1, 8));
  check("AM_GetTranslationName", AM_GetTranslationName(endpoint, 0, &found));
  check("AM_GetTranslationTag", AM_GetTranslationTag(endpoint, 0, &tag));
  if (memcmp((char*)&found, (char*)&other, sizeof found) != 0 || tag != (tag_t)KEY) ++errors;
  if (asks)
    ask();
  else
    answer();
  check("AM_UnMap", AM_UnMap(endpoint, 0));
  check("AM_FreeEndpoint", AM_FreeEndpoint(endpoint));
  check("AM_FreeBundle", AM_FreeBundle(bundle));
  check("AM_Terminate", AM_Terminate());
  printf("%s: %d errors\n", argv[2], errors);
  return errors != 0;
}
