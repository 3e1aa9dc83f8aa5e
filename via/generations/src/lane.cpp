#include "via/generations/src/lane.hpp"

#include <system_error>

#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/parts.hpp"
#include "viaduct/via/nic.hpp"

namespace viaduct::via::generations {

bool post_receive(Vi& vi, Descriptor& descriptor) noexcept {
  constexpr int kMostTries = 1000;
  for (int i = 0; i < kMostTries; ++i)
    if (vi.post_receive(descriptor) == Status::ok) return true;
  return false;
}

Lane::Lane(const Common& common, const Shape& shape, Place place)
    : shape_(shape),
      place_(place),
      arena_(common.arenas.make(std::size_t{shape.sends + shape.receives} * shape.buffer_bytes)),
      descriptors_(std::make_unique<Descriptor[]>(shape.sends + shape.receives)) {
  ViAttributes attributes;
  attributes.tag = common.tag;
  attributes.send_depth = shape.sends + shape.other_sends;
  attributes.receive_depth = shape.receives;
  attributes.send_queue = &common.send_queue;
  attributes.receive_queue = &common.receive_queue;
  attributes.context = &place_;
  vi_ = common.nic.create_vi(attributes);
  free_.reserve(shape.sends);
  for (std::uint32_t i = shape.sends; i != 0; --i) free_.push_back(i - 1);
  for (std::uint32_t i = 0; i < shape.receives; ++i)
    if (!repost(descriptors_[shape.sends + i]))
      throw Error(errors::bad_attributes, std::errc::no_buffer_space,
                  "a VI of a MAP takes no receives: its provider answers that its queue is full");
}

bool Lane::send(std::uint32_t bytes) noexcept {
  VIADUCT_PART(build);
  Descriptor& descriptor = descriptors_[free_.back()];
  make_send(descriptor, buffer(free_.back()), bytes, arena_.handle());
  VIADUCT_NEXT_PART(post_send);
  if (vi_->post_send(descriptor) != Status::ok) return false;
  free_.pop_back();
  return true;
}

bool Lane::repost(Descriptor& descriptor) noexcept {
  VIADUCT_PART(recycle_recv);
  make_receive(descriptor, buffer(index_of(descriptor)), shape_.buffer_bytes, arena_.handle());
  VIADUCT_NEXT_PART(post_recv);
  return post_receive(*vi_, descriptor);
}

}  // namespace viaduct::via::generations
