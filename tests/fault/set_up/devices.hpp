#pragma once
/// @file
/// Set-ups over RDMA devices, of which the software devices of tests/soft-verbs can be looked into.

#include "tests/fault/set_up/harness.hpp"

namespace set_up {

/// Whether this program runs under software devices.
[[nodiscard]] bool has_devices();

/// try_all() with one refused call of the devices' library. No region or other object of the
/// devices may be left either.
void refuse_on_devices(const Family& family);

/// try_family() with one failing call outside of the devices' library: what that library allocates,
/// opens, maps and starts itself never fails. No object of the devices may be left either.
void fail_beside_devices(const Family& family);

}  // namespace set_up
