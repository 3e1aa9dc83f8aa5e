#include "compiler-shim/splitcc/driver/translate.hpp"

#include <pthread.h>
#include <exception>

#include "compiler-shim/splitcc/emit/emitter.hpp"
#include "compiler-shim/splitcc/emit/uses.hpp"
#include "compiler-shim/splitcc/lex/lexer.hpp"
#include "compiler-shim/splitcc/parse/parser.hpp"

namespace viaduct::splitcc {
namespace {

struct Task {
  std::string_view text;
  Diagnostics* diagnostics;
  bool sequential;
  Standard standard;
  bool short_enums;
  Translation result;
  std::exception_ptr failure;
};

void run(Task& task) {
  Unit unit;
  unit.standard = task.standard;
  unit.short_enums = task.short_enums;
  unit.tokens = lex(task.text, *task.diagnostics, task.standard);
  Parser parser(unit, *task.diagnostics);
  parser.run();
  if (task.diagnostics->errors() > 0) return;
  Emitter emitter(unit, *task.diagnostics);
  task.result.c = emitter.run(task.sequential);
  task.result.uses = uses_of(unit, *task.diagnostics);
  task.result.defined.assign(unit.defined.begin(), unit.defined.end());
  task.result.ok = true;
}

extern "C" void* run_task(void* argument) {
  auto* const task = static_cast<Task*>(argument);
  try {
    run(*task);
  } catch (...) {
    task->failure = std::current_exception();
  }
  return nullptr;
}

}  // namespace

Translation translate(std::string_view preprocessed, Diagnostics& diagnostics, bool sequential,
                      Standard standard, bool short_enums) {
  // Nesting and long chains of operators recurse: the translation runs in a thread with a large
  // stack, whose pages take memory only once they are used.
  constexpr std::size_t kStackBytes = std::size_t{1} << 30;
  Task task{preprocessed, &diagnostics, sequential, standard, short_enums, {}, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread{};
  const int failed = pthread_create(&thread, &attributes, run_task, &task);
  pthread_attr_destroy(&attributes);
  if (failed == 0)
    pthread_join(thread, nullptr);
  else
    run_task(&task);
  if (task.failure) std::rethrow_exception(task.failure);
  return std::move(task.result);
}

}  // namespace viaduct::splitcc
