/* A server with three endpoints in one bundle, for which it maps nobody: it answers tokens. Its
 * clients map what they need, move endpoints between bundles, and provoke each error that comes
 * back to handler 0.
 *
 * usage: services DIRECTORY server|client
 */
#include <am.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>

enum { ERRORS, REQUEST, ANSWER, DATA_ANSWER, STOP, CHANGE, SHORT_TABLE };
enum { COUNTER, STORE, ECHO, SERVICES };

static eb_t bundle;
static ep_t service[SERVICES];
static tag_t tags[SERVICES] = {11, 22, AM_ALL};
static char memory[AM_MaxMedium()];
static long total;
static int stop, failures;

#define WANT(condition)                                               \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)
#define OK(call) WANT((call) == AM_OK)

static void nap(void) {
  struct timeval a_while;
  a_while.tv_sec = 0;
  a_while.tv_usec = 10000;
  (void)select(0, NULL, NULL, NULL, &a_while);
}

/* One file for each name, as text. */
static void tell(const char* directory, int which, en_t name) {
  char path[300], draft[300];
  const unsigned char* bytes = (const unsigned char*)&name;
  FILE* file;
  size_t i;
  sprintf(path, "%s/service%d", directory, which);
  sprintf(draft, "%s/draft%d", directory, which);
  file = fopen(draft, "w");
  if (file == NULL) exit(1);
  for (i = 0; i < sizeof name; ++i) fprintf(file, "%02x", bytes[i]);
  if (fclose(file) != 0 || rename(draft, path) != 0) exit(1);
}
static en_t hear(const char* directory, int which) {
  char path[300];
  en_t name;
  unsigned char* bytes = (unsigned char*)&name;
  FILE* file;
  size_t i;
  int tries = 0;
  sprintf(path, "%s/service%d", directory, which);
  while ((file = fopen(path, "r")) == NULL) {
    if (++tries == 3000) exit(1);
    nap();
  }
  for (i = 0; i < sizeof name; ++i) {
    unsigned byte;
    if (fscanf(file, "%2x", &byte) != 1) exit(1);
    bytes[i] = (unsigned char)byte;
  }
  fclose(file);
  return name;
}

/* The server. */

static void count(void* token, int a, int b, int c, int d, int e, int f, int g, int h) {
  ep_t at;
  tag_t tag;
  en_t from;
  OK(AM_GetDestEndpoint(token, &at));
  WANT(at == service[COUNTER]);
  OK(AM_GetMsgTag(token, &tag));
  WANT(tag == 11);
  OK(AM_GetSourceEndpoint(token, &from));
  total += a + b + c + d + e + f + g + h;
  OK(AM_Reply2(token, ANSWER, (int)total, COUNTER));
}
static void store(void* token, void* data, int nbytes, int count_them) {
  char* bytes = (char*)data;
  int i, n = 0;
  for (i = 0; i < nbytes; ++i) n += bytes[i] == 'x';
  WANT(n == count_them);
  OK(AM_Reply2(token, ANSWER, n, STORE));
}
static void echo(void* token, void* data, int nbytes) {
  OK(AM_ReplyI0(token, DATA_ANSWER, data, (size_t)nbytes));
}
static void change(void* token, int tag) {
  OK(AM_SetTag(service[STORE], (tag_t)tag));
  OK(AM_Reply2(token, ANSWER, tag, COUNTER));
}
static void end(void* token) {
  (void)token;
  stop = 1;
}

static void serve(const char* directory) {
  en_t name;
  int i;
  void* where;
  size_t bytes;
  OK(AM_AllocateBundle(AM_PAR, &bundle));
  for (i = 0; i < SERVICES; ++i) {
    OK(AM_AllocateEndpoint(bundle, &service[i], &name));
    OK(AM_SetTag(service[i], tags[i]));
    tell(directory, i, name);
  }
  OK(AM_SetHandler(service[COUNTER], REQUEST, count));
  OK(AM_SetHandler(service[COUNTER], STOP, end));
  OK(AM_SetHandler(service[COUNTER], CHANGE, change));
  OK(AM_SetHandler(service[STORE], REQUEST, store));
  OK(AM_SetHandler(service[ECHO], REQUEST, echo));
  OK(AM_SetNumHandlers(service[ECHO], SHORT_TABLE));
  OK(AM_SetSeg(service[STORE], memory, sizeof memory));
  OK(AM_GetSeg(service[STORE], &where, &bytes));
  WANT(where == memory && bytes == sizeof memory);
  OK(AM_SetEventMask(bundle, AM_NOTEMPTY));
  while (!stop) {
    OK(AM_WaitSema(bundle));
    OK(AM_Poll(bundle));
  }
}

/* The client. */

static int answers[SERVICES], last_value, last_status, last_handler, last_kind, returned;
static size_t last_bytes;

static void on_answer(void* token, int value, int from) {
  (void)token;
  last_value = value;
  ++answers[from];
}
static void on_data(void* token, char* data, int nbytes) {
  (void)token;
  last_bytes = (size_t)nbytes;
  WANT(nbytes == 0 || data[nbytes - 1] == 'e');
  ++answers[ECHO];
}
static void on_error(int status, op_t opcode, void* argblock) {
  AM_ArgBlock* block = (AM_ArgBlock*)argblock;
  last_status = status;
  last_kind = opcode;
  last_handler = block->handler;
  ++returned;
}

static void wait_for(eb_t in, int* what, int value) {
  while (*what < value) OK(AM_Poll(in));
}
#define COMES_BACK(call, status)             \
  do {                                       \
    const int before = returned;             \
    OK(call);                                \
    wait_for(bundle, &returned, before + 1); \
    WANT(last_status == status);             \
  } while (0)

static void use(const char* directory) {
  eb_t other;
  ep_t ep;
  en_t mine, names[SERVICES];
  int i, at[SERVICES], n;
  char* text = "to be or not to be";
  OK(AM_AllocateBundle(AM_SEQ, &bundle));
  OK(AM_AllocateBundle(AM_SEQ, &other));
  OK(AM_AllocateKnownEndpoint(other, &ep, &mine, 4711));
  OK(AM_SetTag(ep, 5));
  OK(AM_SetHandler(ep, ERRORS, on_error));
  OK(AM_SetHandler(ep, ANSWER, on_answer));
  OK(AM_SetHandler(ep, DATA_ANSWER, on_data));
  OK(AM_GetNumTranslations(ep, &n));
  WANT(n >= 1024);
  for (i = 0; i < SERVICES; ++i) {
    names[i] = hear(directory, i);
    OK(AM_MapAny(ep, &at[i], names[i], tags[i] == AM_ALL ? 77 : tags[i]));
    WANT(AM_GetTranslationInuse(ep, at[i]) == AM_OK);
  }
  WANT(at[0] != at[1] && at[1] != at[2] && at[0] != at[2]);
  OK(AM_SetExpectedResources(ep, SERVICES, 4));
  OK(AM_Request8(ep, at[COUNTER], REQUEST, 1, 2, 3, 4, 5, 6, 7, 8));
  wait_for(other, &answers[COUNTER], 1);
  WANT(last_value == 36);
  OK(AM_MoveEndpoint(ep, other, bundle)); /* with its translations */
  OK(AM_FreeBundle(other));
  memset(memory, 'x', sizeof memory);
  for (i = 0; i < 20; ++i) {
    int result;
    do {
      result = AM_RequestXferAsync1(ep, at[STORE], 0, REQUEST, memory, (size_t)(100 * i), 100 * i);
      if (result != AM_OK) {
        WANT(result == AM_ERR_NOT_SENT);
        OK(AM_Poll(bundle));
      }
    } while (result != AM_OK);
  }
  wait_for(bundle, &answers[STORE], 20);
  OK(AM_RequestI0(ep, at[ECHO], REQUEST, text, strlen(text)));
  wait_for(bundle, &answers[ECHO], 1);
  WANT(last_bytes == strlen(text));
  OK(AM_RequestI0(ep, at[ECHO], REQUEST, text, 0));
  wait_for(bundle, &answers[ECHO], 2);
  WANT(last_bytes == 0);

  /* What comes back. */
  COMES_BACK(AM_Request0(ep, at[ECHO], SHORT_TABLE + 1), EBADHANDLER);
  WANT(last_handler == SHORT_TABLE + 1 && last_kind == AM_REQUEST_M);
  COMES_BACK(AM_Request0(ep, at[ECHO] + 10, REQUEST), EBADENTRY);
  COMES_BACK(AM_RequestXfer1(ep, at[ECHO], 0, REQUEST, text, 4, 0), EBADSEGOFF);
  COMES_BACK(AM_RequestXfer1(ep, at[STORE], sizeof memory - 2, REQUEST, text, 4, 0), EBADLENGTH);
  OK(AM_Request1(ep, at[COUNTER], CHANGE, 23));
  wait_for(bundle, &answers[COUNTER], 2);
  COMES_BACK(AM_RequestXfer1(ep, at[STORE], 0, REQUEST, text, 4, 0), EBADTAG);
  OK(AM_UnMap(ep, at[STORE]));
  WANT(AM_GetTranslationInuse(ep, at[STORE]) != AM_OK);
  OK(AM_Map(ep, at[STORE], names[STORE], 23));
  OK(AM_RequestXfer1(ep, at[STORE], 0, REQUEST, text, 4, 0));
  wait_for(bundle, &answers[STORE], 21);
  names[STORE].port += 1000;
  OK(AM_MapAny(ep, &i, names[STORE], 23));
  COMES_BACK(AM_Request0(ep, i, REQUEST), EBADENDPOINT);
  OK(AM_UnMap(ep, i));
  WANT(AM_Map(ep, at[ECHO], names[ECHO], 77) != AM_OK);

  OK(AM_Request0(ep, at[COUNTER], STOP));
  for (i = 0; i < SERVICES; ++i) OK(AM_UnMap(ep, at[i]));
  OK(AM_FreeEndpoint(ep));
}

int main(int argc, char* argv[]) {
  if (argc != 3) return 2;
  OK(AM_Init());
  if (strcmp(argv[2], "server") == 0)
    serve(argv[1]);
  else
    use(argv[1]);
  OK(AM_FreeBundle(bundle));
  OK(AM_Terminate());
  printf("%s: %d failures\n", argv[2], failures);
  return failures != 0;
}
