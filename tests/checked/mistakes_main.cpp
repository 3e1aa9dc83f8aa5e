/// @file
/// Makes one mistake that checked mode finds, and must not come to its end.
///
///     viaduct-run -n N checked_mistakes NAME
///     viaduct-run -n N checked_mistakes --list [--usual]     lines of name, exit code, words

#include <cstdio>
#include <string_view>

#include "tests/checked/mistakes.hpp"

namespace {

using namespace viaduct::splitc_test;

int list(const Misuses& all, bool usual) {
  if (MYPROC != 0) return 0;
  for (const Misuse& m : all)
    if (m.is_usual || !usual) std::printf("%s\t%d\t%s\n", m.name.c_str(), m.code, m.words.c_str());
  return 0;
}

}  // namespace

int splitc_main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  Misuses all;
  add_access_mistakes(all);
  add_memory_mistakes(all);
  add_call_mistakes(all);
  if (name == "--list") return list(all, argc > 2);
  for (const Misuse& m : all) {
    if (m.name != name) continue;
    if (m.everybody || MYPROC == 0) m.act();
    // The others wait for the one that errs, and must not wait for ever.
    viaduct::splitc::all_store_sync();
    std::puts("nothing stopped this process");
    return 3;
  }
  std::printf("there is no mistake '%s'\n", argv[1]);
  return 3;
}
