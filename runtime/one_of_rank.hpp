#pragma once
/// @file
/// An object that all users of a rank share: the first user makes it, the last user's end ends it.

#include <map>
#include <memory>
#include <mutex>

namespace viaduct {

class Job;

/// @return the rank's object of type T. @p make answers it for the first user. Ranks may be threads
/// of one process, each with a job of its own.
///
/// Call from   any thread.  Throws std::bad_alloc, and what @p make throws. Cost: a lock.
template <class T, class Make>
std::shared_ptr<T> one_of_rank(Job& job, const Make& make) {
  static std::mutex mutex;
  static std::map<Job*, std::weak_ptr<T>> objects;
  const std::lock_guard lock(mutex);
  std::erase_if(objects, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<T>& known = objects[&job];
  if (std::shared_ptr<T> there = known.lock()) return there;
  std::shared_ptr<T> made = make();
  known = made;
  return made;
}

}  // namespace viaduct
