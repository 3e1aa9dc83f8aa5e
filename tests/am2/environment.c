/* What AM_Init answers, for environment.sh; where it succeeds, a message from the process to
 * itself. */
#include <stdio.h>

#include "am/c/am.h"

static volatile int arrived;

static void on_request(void* token, int value) { AM_Reply1(token, 2, value); }
static void on_reply(void* token, int value) {
  (void)token;
  arrived = value;
}

int main(void) {
  eb_t bundle;
  ep_t ep;
  en_t name;
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
  if (name.ip_addr != 0 || AM_Terminate() != AM_OK) return 1;
  puts("a job of one");
  return 0;
}
