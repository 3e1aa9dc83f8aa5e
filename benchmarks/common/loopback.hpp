#pragma once
/// @file
/// The kernel's paths between two processes: loopback sockets, and one copy straight into the
/// other's memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <sys/types.h>

#include "benchmarks/common/pair.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::bench {

enum class Transport : std::uint8_t { tcp, udp };

/// A connection over 127.0.0.1 between the two ranks of a Pair, both of which construct it.
class Loopback {
 public:
  /// Throws Error when the loopback interface is missing or down.
  Loopback(Pair& pair, Transport transport);

  /// 8 bytes to and fro, both ranks spinning on a socket that does not block; RTT/2.
  [[nodiscard]] double rtt_half_ns(std::uint64_t round_trips = 2'000);

 private:
  void send_word(std::uint64_t word);
  [[nodiscard]] std::uint64_t await_word();

  Pair& pair_;
  FileDescriptor socket_;
};

/// Cross-memory attach: the sender writes into the peer's private memory by process_vm_writev.
class CrossMemory {
 public:
  /// Both construct it. @p bytes is the greatest copy.
  CrossMemory(Pair& pair, std::size_t bytes);

  /// Whether the kernel allows such copies here; the same at both ranks. False for ranks that are
  /// threads, which share all their memory.
  [[nodiscard]] bool works() const noexcept { return works_; }

  /// GB/s of @p copies copies of @p bytes each. Precondition: works().
  [[nodiscard]] double write_gbs(std::size_t bytes, std::uint32_t copies);

 private:
  bool write(std::size_t bytes) noexcept;

  Pair& pair_;
  std::unique_ptr<std::byte[]> memory_;
  std::byte* target_ = nullptr;  // in the peer
  pid_t peer_ = 0;
  bool works_ = false;
};

}  // namespace viaduct::bench
