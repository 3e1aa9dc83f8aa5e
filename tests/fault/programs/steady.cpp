// A fixed amount of traffic between all ranks, every answer checked, under a disturbance of its own
// or from outside.
//
//     steady ROUNDS DISTURBANCE [PAGE_FD]
//
// In a round each rank sends every other a short request and a medium one, both answered with what
// must be expected, and a bulk block, which the receiver reads word for word. Disturbances:
//
//     none
//     signals    a timer interrupts every millisecond, without SA_RESTART
//     children   fork() and _exit, fork() and exec, system(), while requests are outstanding
//     private    the segment is private memory of the process
//     to-one     all ranks send to rank 0 alone
//     forked-am  a forked child sends a request: the library must stop it

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "tests/fault/states.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"

namespace am = viaduct::am;
using viaduct::Status;

namespace {

constexpr std::size_t kMediumWords = 256;
constexpr std::size_t kBulkWords = 4096;

struct Rank {
  std::uint32_t me = 0;
  std::uint64_t asked = 0;
  std::uint64_t answered = 0;
  std::uint64_t served = 0;
  std::uint64_t wrong = 0;
};
thread_local Rank* rank = nullptr;
volatile std::sig_atomic_t interrupts = 0;

std::uint64_t answer_to(std::uint64_t x) { return x * 0x9e3779b97f4a7c15ULL + 1; }

void on_number(am::Token&, std::uint64_t x, std::uint64_t answer) {
  ++rank->answered;
  if (answer != answer_to(x)) ++rank->wrong;
}
void on_ask(am::Token& token, std::uint64_t x) {
  ++rank->served;
  token.reply<on_number>(x, answer_to(x));
}

void on_block_back(am::Token&, std::span<const std::uint64_t> data, std::uint64_t x) {
  ++rank->answered;
  if (data.size() != kMediumWords) ++rank->wrong;
  for (const std::uint64_t word : data)
    if (word != answer_to(x)) ++rank->wrong;
}
void on_block(am::Token& token, std::span<const std::uint64_t> data, std::uint64_t x) {
  ++rank->served;
  std::vector<std::uint64_t> back(data.begin(), data.end());
  for (std::uint64_t& word : back) word = answer_to(word);
  (void)token.reply_medium<on_block_back>(std::span<const std::uint64_t>(back), x);
}

void on_bulk(am::Token& token, std::span<std::uint64_t> data, std::uint64_t x) {
  ++rank->served;
  std::uint64_t right = data.size() == kBulkWords ? 1 : 0;
  for (const std::uint64_t word : data)
    if (word != x) right = 0;
  token.reply<on_number>(x, right != 0 ? answer_to(x) : 0);
}

bool ask_all(viaduct::Job& job, am::Endpoint& endpoint, std::uint64_t round, bool to_one) {
  std::vector<std::uint64_t> words(kBulkWords);
  for (std::uint32_t step = 0; step < job.size(); ++step) {
    const std::uint32_t to = to_one ? 0 : (rank->me + step) % job.size();
    if (to_one && step != 0) break;
    const std::uint64_t x = round << 16 | rank->me;
    words.assign(kBulkWords, x);
    const std::span<const std::uint64_t> all(words);
    // Everyone has a place of his own in everyone's segment.
    if (endpoint.request<on_ask>(am::Index{to}, x) != Status::ok ||
        endpoint.request_medium<on_block>(am::Index{to}, all.first(kMediumWords), x) !=
            Status::ok ||
        endpoint.request_bulk<on_bulk>(am::Index{to}, all, rank->me * kBulkWords * 8, x) !=
            Status::ok)
      return false;
    rank->asked += 3;
  }
  return true;
}

void start_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupts = interrupts + 1; };
  ::sigaction(SIGALRM, &action, nullptr);
  const itimerval every{{0, 1000}, {0, 1000}};
  ::setitimer(ITIMER_REAL, &every, nullptr);
}

/// Children that end in the three ways in which a child may.
bool have_children() {
  for (const bool with_exec : {false, true}) {
    const pid_t child = ::fork();
    if (child < 0) return false;
    if (child == 0) {
      if (with_exec) ::execl("/bin/true", "true", nullptr);
      ::_exit(with_exec ? 1 : 0);
    }
    int status = -1;
    if (::waitpid(child, &status, 0) != child || status != 0) return false;
  }
  return std::system("true") == 0;
}

/// The child must be stopped with a sentence, and have sent nothing.
bool child_may_not_send(am::Endpoint& endpoint) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    (void)endpoint.request<on_ask>(am::Index{0}, std::uint64_t{1});
    ::_exit(0);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
         WTERMSIG(status) == SIGABRT;
}

int body(viaduct::Job& job, int argc, char** argv) {
  if (argc < 3) return 2;
  const std::uint64_t rounds = std::strtoull(argv[1], nullptr, 10);
  const std::string disturbance = argv[2];
  fault::Page* const page = argc > 3 ? &fault::Page::attach(std::atoi(argv[3])) : nullptr;
  Rank state;
  rank = &state;
  state.me = index(job.rank());
  const bool to_one = disturbance == "to-one";

  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  std::vector<std::uint64_t> private_memory;
  const std::size_t segment_words = job.size() * kBulkWords;
  if (disturbance == "private") {
    private_memory.resize(segment_words);
    endpoint.set_segment(std::as_writable_bytes(std::span(private_memory)));
  } else if (!to_one || state.me == 0) {
    (void)endpoint.make_segment(segment_words * 8);
  }
  if (bundle.barrier() != Status::ok) return 1;
  if (disturbance == "signals") start_interrupts();

  for (std::uint64_t round = 0; round < rounds; ++round) {
    if (!ask_all(job, endpoint, round, to_one)) return 3;
    if (disturbance == "children" && round % 8 == 0 && !have_children()) return 4;
    if (disturbance == "forked-am" && round == 0 && state.me == 0 && !child_may_not_send(endpoint))
      return 5;
    if (bundle.wait_until([&] { return state.answered == state.asked; }) != Status::ok) return 6;
    if (page != nullptr) page->ranks[state.me].rounds.fetch_add(1);
  }
  if (bundle.barrier() != Status::ok) return 7;
  const std::uint64_t expected =
      to_one ? (state.me == 0 ? 3 * rounds * job.size() : 0) : 3 * rounds * job.size();
  if (state.served != expected || state.wrong != 0) {
    std::fprintf(
        stderr, "steady: rank %u served %llu requests, not %llu; %llu answers were wrong\n",
        state.me, static_cast<unsigned long long>(state.served),
        static_cast<unsigned long long>(expected), static_cast<unsigned long long>(state.wrong));
    return 8;
  }
  if (disturbance == "signals") {
    const itimerval off{};
    ::setitimer(ITIMER_REAL, &off, nullptr);
    if (interrupts == 0) return 9;
  }
  if (bundle.barrier() != Status::ok) return 10;
  if (state.me == 0) std::printf("steady: all right\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
