// VIADUCT_CHECKED: the C++ library checks its own use.

#include <gtest/gtest.h>
#include <vector>

#include "viaduct/runtime/types.hpp"

namespace {

TEST(Checked, IndexBeyondTheEndStopsTheProgram) {
#ifdef _GLIBCXX_ASSERTIONS
  const std::vector<int> three(3);
  volatile std::size_t beyond = three.size();
  EXPECT_DEATH(static_cast<void>(three[beyond]), "Assertion '__n < this->size\\(\\)' failed");
#else
  GTEST_SKIP() << "VIADUCT_CHECKED is off in this build, or a sanitizer checks";
#endif
}

}  // namespace
