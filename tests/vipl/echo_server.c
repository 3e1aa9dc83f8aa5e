/* A server of the kind that programs of the time were: it waits for one client at a name and
   number, and sends back what it gets, until the client disconnects. */

#include "tests/vipl/rig.h"

int main(void) {
  static Rig rig; /* its memory stays in use to the end */
  VIP_VI_HANDLE vi;
  AddressRoom local, remote;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection = NULL;
  VIP_DESCRIPTOR* d = NULL;
  int echoes = 0;
  open_rig(&rig);
  vi = make_vi(&rig, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
  WANT(VIP_SUCCESS,
       VipPostRecv(vi, fill(&rig.rooms[0].d, rig.there, 4096, rig.there_handle), rig.rooms_handle));
  WANT(VIP_SUCCESS, VipConnectWait(rig.nic, here(&rig, &local, "echo"), VIP_INFINITE,
                                   &remote.address, &attributes, &connection));
  WANT(VIP_SUCCESS, VipConnectAccept(connection, vi));
  while (VipRecvWait(vi, VIP_INFINITE, &d) == VIP_SUCCESS) {
    const unsigned n = d->CS.Length;
    memcpy(rig.bytes, rig.there, n);
    WANT(VIP_SUCCESS, VipPostRecv(vi, fill(&rig.rooms[0].d, rig.there, 4096, rig.there_handle),
                                  rig.rooms_handle));
    WANT(VIP_SUCCESS,
         VipPostSend(vi, fill(&rig.rooms[1].d, rig.bytes, n, rig.bytes_handle), rig.rooms_handle));
    WANT(VIP_SUCCESS, VipSendWait(vi, LIMIT_MS, &d));
    ++echoes;
  }
  close_vi(vi);
  WANT(VIP_SUCCESS, VipCloseNic(rig.nic));
  printf("server: %d echoes, %d failures\n", echoes, failures);
  return failures == 0 && echoes == 100 ? 0 : 1;
}
