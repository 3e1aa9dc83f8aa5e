// How benchmark `mapping` takes an operation apart (viaduct/runtime/parts.hpp, benchmarks/mapping):
// parts of known length, within each other, and one behind the other. The clock is the test's own,
// so that no time of the machine is in it.

#include "benchmarks/mapping/turns.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace viaduct {
namespace {

constexpr std::uint64_t kLookTicks = 30;  // what a look at the clock takes
std::uint64_t now;

}  // namespace

std::uint64_t parts::test_clock() noexcept { return now += kLookTicks; }

namespace bench {
namespace {

using parts::Part;

void work(std::uint64_t units) { now += 1'000 * units; }

/// cq_recv has 3 units of its own, processing 2, build 4 and post_send 2.
constexpr double kUnits = 11;
void operate(Turns& turns) {
  VIADUCT_BEGIN_TURN(turns, cq_recv);
  work(1);
  {
    VIADUCT_PART(processing);
    work(1);
    {
      VIADUCT_PART(build);
      work(3);
      VIADUCT_NEXT_PART(post_send);
      work(2);
      {
        VIADUCT_PART(build);
        work(1);
      }
    }
    work(1);
  }
  {
    VIADUCT_PART(cq_recv);  // in itself
    work(2);
  }
  turns.end();
  turns.operation_done();
}

Work measured() {
  PairPage page{};
  Pair pair(&page, Role::sender);
  Turns turns(pair);
  for (std::size_t i = 0; i < 2 * Turns::kKinds * Turns::kBatch; ++i) operate(turns);
  return turns.result();
}

TEST(MappingParts, EachPartHasItsOwnTime) {
  const Work work = measured();
  const auto units = [&](Part part) {
    return work.parts[static_cast<std::size_t>(part)].ns / work.total_ns * kUnits;
  };
  constexpr double kNear = 1e-9;
  EXPECT_NEAR(units(Part::cq_recv), 3, kNear);
  EXPECT_NEAR(units(Part::processing), 2, kNear);
  EXPECT_NEAR(units(Part::build), 4, kNear);
  EXPECT_NEAR(units(Part::post_send), 2, kNear);
  EXPECT_NEAR(units(Part::act), 0, 1e-9);
}

TEST(MappingParts, ThePartsAddUpToTheTurn) {
  const Work work = measured();
  double sum = 0;
  for (const Work::PartWork& part : work.parts) sum += part.ns;
  EXPECT_NEAR(sum / work.total_ns, 1, 1e-9);
}

TEST(MappingParts, APartIsCountedWhenItBegins) {
  const Work work = measured();
  const auto entries = [&](Part part) {
    return work.parts[static_cast<std::size_t>(part)].entries;
  };
  EXPECT_DOUBLE_EQ(entries(Part::cq_recv), 2);
  EXPECT_DOUBLE_EQ(entries(Part::processing), 1);
  EXPECT_DOUBLE_EQ(entries(Part::build), 2);
  EXPECT_DOUBLE_EQ(entries(Part::post_send), 1);
  EXPECT_DOUBLE_EQ(entries(Part::act), 0);
}

}  // namespace
}  // namespace bench
}  // namespace viaduct
