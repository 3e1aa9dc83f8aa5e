/* usage: echo_client SERVER: finds the server by its name, sends it a hundred messages, and checks
   what comes back. */

#include "tests/vipl/rig.h"

int main(int argc, char** argv) {
  static Rig rig; /* its memory stays in use to the end */
  VIP_VI_HANDLE vi;
  AddressRoom local, remote;
  VIP_VI_ATTRIBUTES attributes;
  VIP_DESCRIPTOR* d = NULL;
  static const char kNumber[] = "echo";
  unsigned i;
  if (argc != 2) return 2;
  open_rig(&rig);
  vi = make_vi(&rig, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
  WANT(VIP_SUCCESS, VipNSInit(rig.nic, NULL));
  memset(&remote, 0, sizeof remote);
  WANT(VIP_SUCCESS, VipNSGetHostByName(rig.nic, argv[1], &remote.address, 0));
  remote.address.DiscriminatorLen = sizeof kNumber - 1;
  memcpy(remote.room + 4 + remote.address.HostAddressLen, kNumber, sizeof kNumber - 1);
  WANT(VIP_SUCCESS,
       VipConnectRequest(vi, here(&rig, &local, "client"), &remote.address, LIMIT_MS, &attributes));
  for (i = 1; i <= 100 && failures == 0; ++i) {
    memset(rig.bytes, (int)i, i * 40);
    WANT(VIP_SUCCESS, VipPostRecv(vi, fill(&rig.rooms[0].d, rig.there, 4096, rig.there_handle),
                                  rig.rooms_handle));
    WANT(VIP_SUCCESS, VipPostSend(vi, fill(&rig.rooms[1].d, rig.bytes, i * 40, rig.bytes_handle),
                                  rig.rooms_handle));
    WANT(VIP_SUCCESS, VipRecvWait(vi, LIMIT_MS, &d));
    CHECK(d != NULL && d->CS.Length == i * 40 && memcmp(rig.bytes, rig.there, i * 40) == 0);
    WANT(VIP_SUCCESS, VipSendWait(vi, LIMIT_MS, &d));
  }
  close_vi(vi);
  WANT(VIP_SUCCESS, VipCloseNic(rig.nic));
  printf("client: %d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
