/// How a bundle runs tasks.

#include "viaduct/am/task.hpp"

#include "am/src/bundle_wait.hpp"

namespace viaduct::am {

void Bundle::run(std::span<Task> tasks) {
  detail::TaskRunner runner;
  std::size_t left = 0;
  {
    const Guard guard(*this, "run");
    for (Task& task : tasks) {
      if (task.is_done()) continue;
      runner.add(task);
      ++left;
    }
  }
  while (left != 0) {
    (void)wait_until([&] { return runner.has_ready(); });
    std::coroutine_handle<Task::promise_type> next;
    {
      const Lock lock(*this, "run");  // calls are answered under it
      next = runner.take();
    }
    try {
      next.resume();
    } catch (...) {
      const Lock lock(*this, "run");
      for (Task& task : tasks) detail::TaskRunner::leave(task);  // the runner ends
      throw;
    }
    left -= next.done() ? 1 : 0;
  }
}

void Bundle::run(Task task) { run(std::span(&task, 1)); }

}  // namespace viaduct::am
