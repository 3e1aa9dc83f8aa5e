/// splitcc: compiles Split-C.

#include <fmt/format.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "compiler-shim/splitcc/driver/driver.hpp"
#include "compiler-shim/splitcc/driver/installation.hpp"
#include "compiler-shim/splitcc/driver/process.hpp"
#include "runtime/standard_streams.hpp"
#include "viaduct/runtime/version.hpp"

int main(int argc, char** argv) {
  namespace sc = viaduct::splitcc;
  viaduct::open_standard_streams();
  // splitcc parses gcc's messages, which must be in English.
  ::setenv("LC_ALL", "C", 1);
  sc::end_with_children();
  try {
    sc::Options options = sc::parse_options(std::vector<std::string>(argv + 1, argv + argc));
    if (options.help) {
      std::fputs(sc::help_text().c_str(), stdout);
      return 0;
    }
    if (options.version) {
      fmt::print("splitcc (Viaduct) {}\n", viaduct::kVersion);
      return 0;
    }
    if (options.print_makefile) {
      fmt::print("{}/split-c/Make.split-c\n", sc::find_installation().include);
      return 0;
    }
    return sc::Driver(std::move(options)).run();
  } catch (const sc::Ended& end) {
    std::signal(end.signal, SIG_DFL);  // so that the parent sees the signal
    std::raise(end.signal);
    return 1;
  } catch (const sc::UsageError& e) {
    fmt::print(stderr, "splitcc: error: {}\n", e.text);
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "splitcc: error: {}\n", e.what());
    return 1;
  }
}
