/* What AM_Init answers, for environment.sh; where it succeeds, a message from the process to
 * itself. */
#include <stdio.h>
#include <stdlib.h>

#include "am/c/am.h"

static volatile int arrived;

static void on_request(void* token, int value) { AM_Reply1(token, 2, value); }
static void on_reply(void* token, int value) {
  (void)token;
  arrived = value;
}

/* IP_ADDR PORT: the name of another process that was started by itself. */
int main(int argc, char** argv) {
  eb_t bundle;
  ep_t ep;
  en_t name, other;
  const int result = AM_Init();
  if (result == AM_ERR_RESOURCE) {
    puts("AM_ERR_RESOURCE");
    return 3;
  }
  if (result != AM_OK || AM_AllocateBundle(AM_SEQ, &bundle) != AM_OK ||
      AM_AllocateEndpoint(bundle, &ep, &name) != AM_OK || AM_SetTag(ep, 5) != AM_OK ||
      AM_Map(ep, 0, name, 5) != AM_OK || AM_SetHandler(ep, 1, on_request) != AM_OK ||
      AM_SetHandler(ep, 2, on_reply) != AM_OK || AM_Request1(ep, 0, 1, 42) != AM_OK)
    return 1;
  while (arrived != 42)
    if (AM_Poll(bundle) != AM_OK) return 1;
  if (argc > 2) {
    other.ip_addr = (unsigned)strtoul(argv[1], NULL, 10);
    other.port = (unsigned)strtoul(argv[2], NULL, 10);
    if (AM_Map(ep, 1, other, 5) != AM_ERR_BAD_ARG) return 1;
  }
  other.ip_addr = 0; /* a name that is made up: this process */
  other.port = name.port;
  if (AM_UnMap(ep, 0) != AM_OK || AM_Map(ep, 1, other, 5) != AM_OK) return 1;
  if (AM_GetTranslationName(ep, 1, &other) != AM_OK || other.ip_addr != name.ip_addr) return 1;
  printf("name %u %u\n", name.ip_addr, name.port);
  if (AM_Terminate() != AM_OK) return 1;
  puts("a job of one");
  return 0;
}
