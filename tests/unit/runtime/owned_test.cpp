// Owned: as std::unique_ptr, whose place it takes in headers that programs include.

#include "viaduct/runtime/owned.hpp"

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace viaduct {
namespace {

int g_alive = 0;

struct Base {
  Base() { ++g_alive; }
  virtual ~Base() { --g_alive; }
  int number = 3;
};
struct Derived : Base {
  ~Derived() override { g_alive -= 100; }
};
struct Incomplete;
struct Holder {  // no more than its name is known of what it holds
  Holder();
  ~Holder();
  Owned<Incomplete> held;
};

static_assert(sizeof(Owned<Base>) == sizeof(Base*) && sizeof(Owned<Base[]>) == sizeof(Base*));
static_assert(!std::is_copy_constructible_v<Owned<Base>>);
static_assert(!std::is_copy_assignable_v<Owned<Base>>);
static_assert(std::is_nothrow_move_constructible_v<Owned<Base>>);
static_assert(std::is_nothrow_move_assignable_v<Owned<Base>>);
static_assert(std::is_constructible_v<Owned<Base>, std::unique_ptr<Derived>>);
// What the wrong form of delete, or none, would follow:
static_assert(!std::is_constructible_v<Owned<Base>, std::unique_ptr<Base>&>);
static_assert(!std::is_constructible_v<Owned<Base>, std::unique_ptr<Base[]>>);
static_assert(!std::is_constructible_v<Owned<Base[]>, std::unique_ptr<Base>>);
static_assert(!std::is_constructible_v<Owned<Derived>, std::unique_ptr<Base>>);
static_assert(!std::is_constructible_v<Owned<Base>, std::unique_ptr<Base, void (*)(Base*)>>);
static_assert(!std::is_constructible_v<Owned<Base>, Base*>);

class OwnedTest : public testing::Test {
 protected:
  OwnedTest() { g_alive = 0; }
};

TEST_F(OwnedTest, HoldsNothingAtFirst) {
  const Owned<Base> none;
  EXPECT_TRUE(none == nullptr);
  EXPECT_FALSE(none);
  EXPECT_EQ(none.get(), nullptr);
}

TEST_F(OwnedTest, DeletesOnceAtItsEnd) {
  {
    Owned<Base> one = std::make_unique<Base>();
    EXPECT_TRUE(one != nullptr);
    EXPECT_EQ(one->number, 3);
    EXPECT_EQ(&*one, one.get());
    EXPECT_EQ(g_alive, 1);
    const Owned<Base> two = std::move(one);
    EXPECT_TRUE(one == nullptr);  // NOLINT(bugprone-use-after-move): that is what is tested
    EXPECT_EQ(g_alive, 1);
  }
  EXPECT_EQ(g_alive, 0);
}

TEST_F(OwnedTest, AssignmentDeletesWhatWasThere) {
  Owned<Base> one = std::make_unique<Base>();
  Base* const second = new Base;
  one = std::unique_ptr<Base>(second);
  EXPECT_EQ(g_alive, 1);
  EXPECT_EQ(one.get(), second);
  Owned<Base>& same = one;
  one = std::move(same);
  EXPECT_EQ(one.get(), second) << "moved into itself, it keeps its object";
  EXPECT_EQ(g_alive, 1);
  one = nullptr;
  EXPECT_EQ(g_alive, 0);
}

TEST_F(OwnedTest, DeletesByTheObjectsOwnDestructor) {
  Owned<Base> one = std::make_unique<Derived>();
  one.reset();
  EXPECT_EQ(g_alive, -100);
  EXPECT_FALSE(one);
}

TEST_F(OwnedTest, ReleaseHandsTheObjectOver) {
  Owned<Base> one = std::make_unique<Base>();
  const std::unique_ptr<Base> other(one.release());
  EXPECT_FALSE(one);
  EXPECT_EQ(g_alive, 1);
}

TEST_F(OwnedTest, DeletesAllOfAnArray) {
  {
    Owned<Base[]> three = std::make_unique<Base[]>(3);
    EXPECT_EQ(g_alive, 3);
    three[2].number = 8;
    EXPECT_EQ(three.get()[2].number, 8);
    three = std::make_unique<Base[]>(2);
    EXPECT_EQ(g_alive, 2);
  }
  EXPECT_EQ(g_alive, 0);
}

TEST_F(OwnedTest, MovesWithItsVector) {
  {
    std::vector<Owned<Base>> all;
    for (int i = 0; i < 20; ++i) {
      all.push_back(std::make_unique<Base>());
      all.back()->number = i;
    }
    all.erase(all.begin() + 4);
    EXPECT_EQ(g_alive, 19);
    EXPECT_EQ(all[4]->number, 5);
  }
  EXPECT_EQ(g_alive, 0);
}

// The owner is empty before the object's destructor runs: a destructor that looks sees no object
// that is half gone.
struct Looker {
  explicit Looker(Owned<Looker>& owner, bool& empty) : owner_(owner), empty_(empty) {}
  ~Looker() { empty_ = owner_ == nullptr; }
  Owned<Looker>& owner_;
  bool& empty_;
};
TEST_F(OwnedTest, IsEmptyWhenTheDestructorRuns) {
  bool empty = false;
  Owned<Looker> owner;
  owner = std::make_unique<Looker>(owner, empty);
  owner.reset();
  EXPECT_TRUE(empty);
}

struct Incomplete : Base {};
Holder::Holder() : held(std::make_unique<Incomplete>()) {}
Holder::~Holder() = default;
TEST_F(OwnedTest, HoldsATypeThatIsDefinedLater) {
  {
    const Holder holder;
    EXPECT_EQ(g_alive, 1);
    EXPECT_EQ(holder.held->number, 3);
  }
  EXPECT_EQ(g_alive, 0);
}

}  // namespace
}  // namespace viaduct
