#pragma once
/// @file
/// The tables of cases, in the order in which they run: later ones rely on what earlier ones have
/// shown.

#include <span>

#include "tests/conformance/rig.hpp"

namespace viaduct::conformance {

std::span<const Case> attribute_cases();
std::span<const Case> memory_cases();
std::span<const Case> connection_cases();
std::span<const Case> peer_connection_cases();
std::span<const Case> disconnect_cases();
std::span<const Case> state_cases();
std::span<const Case> send_cases();
std::span<const Case> list_cases();
std::span<const Case> immediate_cases();
std::span<const Case> order_cases();
std::span<const Case> receive_error_cases();
std::span<const Case> protection_cases();
std::span<const Case> remote_protection_cases();
std::span<const Case> format_cases();
std::span<const Case> rdma_cases();
std::span<const Case> atomic_cases();
std::span<const Case> depth_cases();
std::span<const Case> level_cases();
std::span<const Case> queue_cases();
std::span<const Case> wait_cases();
std::span<const Case> bare_cases();
std::span<const Case> self_cases();
std::span<const Case> stress_cases();

}  // namespace viaduct::conformance
