// A user's program, outside this repository: it sees what is installed and nothing else.

#include <cstddef>
#include <cstdio>
#include <runtime/job.hpp>
#include <runtime/version.hpp>
#include <span>
#include <vector>

namespace {

int body(viaduct::Job& job, int, char**) {
  const std::uint32_t mine = 1000 + viaduct::index(job.rank());
  job.bootstrap().put("number", std::as_bytes(std::span(&mine, 1)));
  job.bootstrap().fence();

  const viaduct::Rank next{(viaduct::index(job.rank()) + 1) % job.size()};
  const std::vector<std::byte> bytes = job.bootstrap().get(next, "number");
  const std::uint32_t wanted = 1000 + viaduct::index(next);
  const auto expected = std::as_bytes(std::span(&wanted, 1));
  if (bytes != std::vector<std::byte>(expected.begin(), expected.end())) return 1;
  std::printf("viaduct %s: rank %u of %u has its neighbour's number\n", viaduct::kVersion,
              viaduct::index(job.rank()), job.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
