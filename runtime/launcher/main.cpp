// viaduct-run: starts a program as the ranks of one job. The life of a job is told in
// docs/launching.md.

#include <chrono>
#include <exception>

#include "runtime/launcher/agent.hpp"
#include "runtime/launcher/exit_codes.hpp"
#include "runtime/launcher/hosts.hpp"
#include "runtime/launcher/launcher.hpp"
#include "runtime/launcher/options.hpp"
#include "runtime/launcher/say.hpp"
#include "runtime/launcher/supervisor.hpp"
#include "runtime/standard_streams.hpp"

int main(int argc, char** argv) {
  using namespace viaduct::launcher;
  viaduct::open_standard_streams();
  try {
    if (is_agent(argc, argv)) {
      const AgentCall call = read_agent_call(argc, argv);
      return supervise([&](const SupervisorLink& link) { return run_agent(call, link); });
    }
    int status = 0;
    const auto options = parse_options(argc, argv, status);
    if (!options) return status;
    return supervise([&](const SupervisorLink& link) {
      return options->hosts.empty() ? Launcher(*options, link).run()
                                    : HostsLauncher(*options, link).run();
    });
  } catch (const std::exception& problem) {
    say(sentence_of(problem));
    static_cast<void>(said_all_within(std::chrono::milliseconds(500)));
    return kExitLauncher;
  }
}
