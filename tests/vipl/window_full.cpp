/* Attempts to connect while the window has no memory: each ends with VIP_ERROR_RESOURCE, and its VI
   is idle and can be used again. Run it with a small window (VIADUCT_SHM_WINDOW): it takes it all.
 */

#include <new>
#include <vector>
#include "tests/vipl/rig.h"
#include "via/vipl/underneath.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/segment.hpp"

namespace {

/// All that is left of the window.
class Hoard {
 public:
  Hoard() {
    for (std::size_t bytes = std::size_t{1} << 20; bytes >= 64; bytes /= 2) {
      try {
        while (true) taken_.push_back(segment_.allocate(bytes));
      } catch (const std::exception&) {
      }
    }
  }
  ~Hoard() {
    for (const std::size_t offset : taken_) segment_.release(offset);
  }
  Hoard(const Hoard&) = delete;
  Hoard& operator=(const Hoard&) = delete;

 private:
  viaduct::Segment& segment_ = viaduct::via::vipl::underneath().job->segment();
  std::vector<std::size_t> taken_;
};

}  // namespace

int main() {
  static Rig rig;  // its memory stays in use to the end
  open_rig(&rig);
  const VIP_VI_HANDLE a = make_vi(&rig, VIP_SERVICE_RELIABLE_DELIVERY, nullptr, nullptr);
  const VIP_VI_HANDLE b = make_vi(&rig, VIP_SERVICE_RELIABLE_DELIVERY, nullptr, nullptr);
  AddressRoom left, right;
  VIP_VI_ATTRIBUTES remote;
  here(&rig, &left, "left");
  here(&rig, &right, "right");
  {
    const Hoard hoard;
    WANT(VIP_ERROR_RESOURCE, VipConnectRequest(a, &left.address, &right.address, 100, &remote));
    CHECK(state_of(a) == VIP_STATE_IDLE);
    WANT(VIP_SUCCESS, VipConnectPeerRequest(a, &left.address, &right.address, LIMIT_MS));
    WANT(VIP_SUCCESS, VipConnectPeerRequest(b, &right.address, &left.address, LIMIT_MS));
    WANT(VIP_ERROR_RESOURCE, VipConnectPeerWait(a, &remote));
    WANT(VIP_ERROR_RESOURCE, VipConnectPeerWait(b, &remote));
    CHECK(state_of(a) == VIP_STATE_IDLE && state_of(b) == VIP_STATE_IDLE);
  }
  WANT(VIP_NO_MATCH, VipConnectRequest(a, &left.address, &right.address, 100, &remote));
  connect_both(&rig, a, b);
  close_vi(a);
  close_vi(b);
  WANT(VIP_SUCCESS, VipCloseNic(rig.nic));
  return failures == 0 ? 0 : 1;
}
