#include "viaduct/runtime/ring_queue.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace viaduct {
namespace {

void expect_same(RingQueue<int>& queue, const std::deque<int>& model) {
  ASSERT_EQ(queue.size(), model.size());
  ASSERT_EQ(queue.is_empty(), model.empty());
  for (std::size_t i = 0; i < model.size(); ++i) ASSERT_EQ(queue[i], model[i]);
}

/// Also while the ring doubles, wherever its oldest value lies.
TEST(RingQueue, IsAQueue) {
  std::mt19937 random(1);
  for (std::size_t room = 0; room < 20; ++room) {
    RingQueue<int> queue = room == 0 ? RingQueue<int>() : RingQueue<int>(room);
    std::deque<int> model;
    for (int i = 0; i < 500; ++i) {
      if (!model.empty() && random() % 5 < 2) {
        EXPECT_EQ(queue.front(), model.front());
        queue.pop();
        model.pop_front();
      } else {
        queue.push(i);
        model.push_back(i);
      }
      expect_same(queue, model);
    }
  }
}

TEST(RingQueue, KeepsItsPlacesWhileTheyAreEnough) {
  RingQueue<int> queue(4);
  queue.push(0);
  const int* const first = &queue.front();
  for (int i = 1; i < 1000; ++i) {
    queue.push(i), queue.push(i), queue.push(i);
    queue.pop(), queue.pop(), queue.pop();
    const auto at = &queue.front() - first;
    ASSERT_TRUE(at >= 0 && at < 4) << "the ring has moved";
  }
}

}  // namespace
}  // namespace viaduct
