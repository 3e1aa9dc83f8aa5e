#include "via/verbs/src/shared_receives.hpp"

#include <algorithm>
#include <utility>

#include "via/verbs/src/device.hpp"

namespace viaduct::via::verbs {

void SharedReceives::open(const Device& device, ibv_pd* domain) noexcept {
  if (!device.settings().shared_receives || device.limits().max_srq <= 0) return;
  constexpr int kMost = 16384;
  most_ = static_cast<std::uint32_t>(std::min(device.limits().max_srq_wr, kMost));
  ibv_srq_init_attr wanted{};
  wanted.attr.max_wr = most_;
  wanted.attr.max_sge = 1;
  queue_.reset(library().create_srq(domain, &wanted));
  for (std::uint32_t i = 0; i + 1 < kBatch; ++i) chain_[i].next = &chain_[i + 1];
  if (queue_ != nullptr) held_ = to_post_ = kBatch;  // which may be missing between two batches
}

void SharedReceives::add_share(std::uint32_t receives) noexcept {
  shares_ += receives;
  to_post_ += receives;
  held_ += receives;
  post();
  watch();
}

void SharedReceives::post() noexcept {
  const std::uint32_t there = held_ - to_post_;
  to_post_ = std::min(to_post_, most_ - there);
  held_ = there + to_post_;
  while (to_post_ != 0) {
    const std::uint32_t n = std::min(to_post_, kBatch);
    ibv_recv_wr* const last = &chain_[n - 1];
    ibv_recv_wr* const behind = std::exchange(last->next, nullptr);
    ibv_recv_wr* bad = last + 1;
    const bool taken = ibv_post_srq_recv(queue_.get(), chain_.data(), &bad) == 0;
    last->next = behind;
    to_post_ -= taken ? n : static_cast<std::uint32_t>(bad - chain_.data());
    if (!taken) return;  // a broken device; the next poll tries again
  }
}

void SharedReceives::watch() noexcept {
  constexpr std::uint32_t kPart = 4;
  ibv_srq_attr attributes{};
  attributes.srq_limit = shares_ / kPart;
  (void)library().modify_srq(queue_.get(), &attributes,
                             IBV_SRQ_LIMIT);  // without it the device tells of none
}

}  // namespace viaduct::via::verbs
