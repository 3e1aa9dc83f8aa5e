// Agrees on its handlers and prints the outcome, one line per rank. Built twice: variant B has
// another second handler.

#include <fmt/format.h>

#include <cstdint>

#include "viaduct/am/registry.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"

namespace {

void on_same(int) {}
#ifdef VIADUCT_TEST_VARIANT_B
void on_other(long) {}
constexpr const char* kSecondName = "on_other(long)";
const auto kSecond = reinterpret_cast<const void*>(on_other);
#else
void on_second(int) {}
constexpr const char* kSecondName = "on_second(int)";
const auto kSecond = reinterpret_cast<const void*>(on_second);
#endif

std::uint16_t same_id = 0;
std::uint16_t second_id = 0;

int body(viaduct::Job& job, int, char**) {
  std::string outcome = "agreed";
  try {
    const auto thunks = viaduct::am::agree_on_handlers(job);
    if (thunks.size() < 2) outcome = "agreed on too few handlers";
  } catch (const viaduct::Error& e) {
    outcome = e.what();
  }
  fmt::print("rank {}: {}\n", viaduct::index(job.rank()), outcome);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  viaduct::am::register_handler(
      {reinterpret_cast<const void*>(on_same), nullptr, "on_same(int)", 4, &same_id});
  viaduct::am::register_handler({kSecond, nullptr, kSecondName, 4, &second_id});
  return viaduct::run(body, argc, argv);
}
