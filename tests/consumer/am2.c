/* A user's program in C: each process tells the next one its rank. */
#include <am.h>
#include <am_spmd.h>
#include <stdio.h>

static int heard = -1;

static void on_rank(void* token, int rank) {
  (void)token;
  heard = rank;
}

int main(int argc, char** argv) {
  eb_t bundle;
  ep_t ep;
  int me, all;
  if (AMX_SPMDStartup(&argc, &argv, 0, NULL, &bundle, &ep) != AM_OK) return 1;
  me = AMX_SPMDMyProc();
  all = AMX_SPMDNumProcs();
  if (AM_SetHandler(ep, 1, on_rank) != AM_OK || AMX_SPMDBarrier() != AM_OK) return 2;
  if (AM_Request1(ep, (me + 1) % all, 1, me) != AM_OK) return 3;
  while (heard < 0)
    if (AM_Poll(bundle) != AM_OK) return 4;
  printf("%d of %d has heard of %d\n", me, all, heard);
  return AMX_SPMDExit(0);
}
