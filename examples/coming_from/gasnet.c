/* Each process writes its number into its right neighbour's memory; then all add up what they got. */
#include <gasnetex.h>
#include <gasnet_coll.h>
#include <stdio.h>

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  gex_Segment_t segment;
  gex_Client_Init(&client, &endpoint, &team, "ring", &argc, &argv, 0);
  gex_Segment_Attach(&segment, team, GASNET_PAGESIZE);
  int me = (int)gex_TM_QueryRank(team), processes = (int)gex_TM_QuerySize(team);
  gex_Rank_t right = (gex_Rank_t)((me + 1) % processes);
  int *from_left = gex_Segment_QueryAddr(segment);
  void *there;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, right, &there, NULL, NULL, 0));
  gex_RMA_PutBlocking(team, right, there, &me, sizeof me, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  int sum = 0;
  gex_Event_Wait(gex_Coll_ReduceToAllNB(team, &sum, from_left, GEX_DT_I32, sizeof(int), 1, GEX_OP_ADD, NULL, NULL, 0));
  printf("process %d has %d, the sum is %d\n", me, *from_left, sum);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(sum != processes * (processes - 1) / 2);
  return 0;
}
