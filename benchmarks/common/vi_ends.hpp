#pragma once
/// @file
/// One rank's end of a VI to the other rank, by the C++ interface and by VIPL: the same functions,
/// each of which is one call of the interface, so that one loop measures either.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "benchmarks/common/pair.hpp"
#include "via/vipl/vipl.h"
#include "viaduct/via/nic.hpp"

namespace viaduct::bench {

/// Memory of the program's own, aligned to a page; freed at the end.
struct FreeMemory {
  void operator()(std::byte* memory) const noexcept;
};
using OwnMemory = std::unique_ptr<std::byte, FreeMemory>;
/// Zeroed, each page touched.  Throws std::bad_alloc.
[[nodiscard]] OwnMemory own_memory(std::size_t bytes);

/// The address of the other rank's memory, and its handle.
struct RemoteMemory {
  std::uint64_t address = 0;
  std::uint32_t handle = 0;
};
/// Both call it; each gets the other's.
[[nodiscard]] RemoteMemory exchange_memory(Pair& pair, const std::byte* memory,
                                           std::uint32_t handle);

/// The C++ interface: a VI with two completion queues.
class CxxEnd {
 public:
  using Descriptor = via::Descriptor;

  /// Both construct, at the same time; they are connected afterwards. @p memory outlives this. @p
  /// discriminator: another for each end of the two.  Throws Error when they do not connect.
  CxxEnd(via::Nic& nic, Pair& pair, Rank peer, std::byte* memory, std::size_t bytes,
         std::uint32_t depth, std::uint8_t discriminator);

  [[nodiscard]] Descriptor& receive_at(std::uint32_t i) noexcept { return descriptors_[i]; }
  [[nodiscard]] Descriptor& send_at(std::uint32_t i) noexcept { return descriptors_[depth_ + i]; }
  [[nodiscard]] std::uint32_t handle() const noexcept {
    return static_cast<std::uint32_t>(region_.handle());
  }

  void make_receive(Descriptor& d, std::byte* into, std::uint32_t bytes) noexcept {
    via::make_receive(d, into, bytes, region_.handle());
  }
  void make_send(Descriptor& d, std::byte* from, std::uint32_t bytes) noexcept {
    via::make_send(d, from, bytes, region_.handle());
  }
  void make_rdma(Descriptor& d, bool write, std::byte* local, std::uint32_t bytes,
                 const RemoteMemory& remote) noexcept;

  void post_receive(Descriptor& d) { require(vi_->post_receive(d), "post_receive"); }
  void post_send(Descriptor& d) { require(vi_->post_send(d), "post_send"); }
  /// The oldest completed descriptor of the queue, or null.  Throws std::runtime_error if it
  /// failed.
  [[nodiscard]] Descriptor* take_receive() { return take(*receives_); }
  [[nodiscard]] Descriptor* take_send() { return take(*sends_); }

  [[nodiscard]] static std::byte* data_of(const Descriptor& d) noexcept {
    return reinterpret_cast<std::byte*>(d.segment[0].local.address);
  }
  [[nodiscard]] static std::uint32_t length_of(const Descriptor& d) noexcept {
    return d.control.length;
  }

 private:
  static void require(Status status, const char* what) {
    if (status != Status::ok) [[unlikely]]
      refuse(status, what);
  }
  [[noreturn]] static void refuse(Status status, const char* what);
  [[noreturn]] static void refuse(const Descriptor& d);
  static Descriptor* take(via::CompletionQueue& queue) {
    via::Completion completion;
    if (queue.poll(completion) != Status::ok) return nullptr;
    if (completion.descriptor->failed()) [[unlikely]]
      refuse(*completion.descriptor);
    return completion.descriptor;
  }

  std::uint32_t depth_;
  OwnMemory block_;  // of the descriptors, as ViplEnd has it: places in pages matter
  Descriptor* descriptors_;
  via::MemoryRegion region_;
  std::unique_ptr<via::CompletionQueue> sends_, receives_;
  std::unique_ptr<via::Vi> vi_;  // ends first: outstanding work still completes into its descriptor
};

/// VIPL: a VI whose work queues are polled directly, or have one completion queue.
class ViplEnd {
 public:
  using Descriptor = VIP_DESCRIPTOR;

  /// As CxxEnd; @p nic is open and stays so.
  ViplEnd(VIP_NIC_HANDLE nic, Pair& pair, Rank peer, std::byte* memory, std::size_t bytes,
          std::uint32_t depth, std::uint8_t discriminator, bool with_queue = false);
  ~ViplEnd();
  ViplEnd(const ViplEnd&) = delete;
  ViplEnd& operator=(const ViplEnd&) = delete;

  [[nodiscard]] Descriptor& receive_at(std::uint32_t i) noexcept { return descriptors_[i]; }
  [[nodiscard]] Descriptor& send_at(std::uint32_t i) noexcept { return descriptors_[depth_ + i]; }
  [[nodiscard]] std::uint32_t handle() const noexcept { return data_handle_; }

  void make_receive(Descriptor& d, std::byte* into, std::uint32_t bytes) noexcept {
    make_local(d, into, bytes);
  }
  void make_send(Descriptor& d, std::byte* from, std::uint32_t bytes) noexcept {
    make_local(d, from, bytes);
  }
  void make_rdma(Descriptor& d, bool write, std::byte* local, std::uint32_t bytes,
                 const RemoteMemory& remote) noexcept;

  void post_receive(Descriptor& d) {
    require(VipPostRecv(vi_, &d, descriptors_handle_), "VipPostRecv");
  }
  void post_send(Descriptor& d) {
    require(VipPostSend(vi_, &d, descriptors_handle_), "VipPostSend");
  }
  [[nodiscard]] Descriptor* take_receive() {
    return queue_ == nullptr ? answer(VipRecvDone(vi_, &out_), "VipRecvDone") : take_queued(true);
  }
  [[nodiscard]] Descriptor* take_send() {
    return queue_ == nullptr ? answer(VipSendDone(vi_, &out_), "VipSendDone") : take_queued(false);
  }
  /// The oldest receive, waited for in the interface.
  [[nodiscard]] Descriptor* wait_receive() {
    return answer(VipRecvWait(vi_, VIP_INFINITE, &out_), "VipRecvWait");
  }

  [[nodiscard]] static std::byte* data_of(const Descriptor& d) noexcept {
    return static_cast<std::byte*>(d.DS[0].Local.Data.Address);
  }
  [[nodiscard]] static std::uint32_t length_of(const Descriptor& d) noexcept { return d.CS.Length; }

 private:
  static void require(VIP_RETURN result, const char* what) {
    if (result != VIP_SUCCESS) [[unlikely]]
      refuse(result, what);
  }
  [[noreturn]] static void refuse(VIP_RETURN result, const char* what);
  /// An empty queue is no error here: the caller asks until there is a completion.
  Descriptor* answer(VIP_RETURN result, const char* what) {
    if (result == VIP_SUCCESS) return out_;
    if (result != VIP_NOT_DONE && out_ != nullptr) [[unlikely]]
      refuse(result, what);
    return nullptr;
  }
  /// An entry of the completion queue says which work queue has one; the other queue's are counted.
  Descriptor* take_queued(bool receive);
  void make_local(Descriptor& d, std::byte* data, std::uint32_t bytes) noexcept;
  void register_memory(std::byte* memory, std::size_t bytes);
  void connect(Pair& pair, Rank peer, std::uint8_t discriminator);

  VIP_NIC_HANDLE nic_;
  std::uint32_t depth_;
  OwnMemory block_;  // of the descriptors
  Descriptor* descriptors_;
  std::byte* memory_;
  VIP_PROTECTION_HANDLE tag_ = nullptr;
  VIP_MEM_HANDLE descriptors_handle_ = 0, data_handle_ = 0;
  VIP_CQ_HANDLE queue_ = nullptr;
  VIP_VI_HANDLE vi_ = nullptr;
  Descriptor* out_ = nullptr;
  std::uint64_t ready_[2] = {};  // of sends, of receives: entries taken for the other call
};

}  // namespace viaduct::bench
