#include "am/src/fork_guard.hpp"

#include <pthread.h>
#include <mutex>
#include <vector>

namespace viaduct::am {
namespace {

// pthread_atfork knows no argument, so the words of all ranks of the process are in one place.
struct Word {
  std::uint32_t* at;
  void (*also)(void*);
  void* argument;
};
struct Words {
  std::mutex mutex;  // held while a fork is under way, so that the child finds the list whole
  std::vector<Word> all;
};
Words& words() {
  static auto& kept = *new Words;  // forks may come after the end of main
  return kept;
}

void before_fork() { words().mutex.lock(); }
void after_fork() { words().mutex.unlock(); }
void in_child() {
  for (const Word& word : words().all) {
    word.also(word.argument);
    ++*word.at;
  }
  words().mutex.unlock();
}

}  // namespace

void raise_in_forked_children(std::uint32_t& word, void (*also)(void*), void* argument) {
  static const int installed = pthread_atfork(before_fork, after_fork, in_child);
  static_cast<void>(installed);  // without memory for it children are not noticed
  const std::lock_guard lock(words().mutex);
  words().all.push_back({&word, also, argument});
}

void leave_forked_children(std::uint32_t& word) noexcept {
  const std::lock_guard lock(words().mutex);
  std::erase_if(words().all, [&](const Word& known) { return known.at == &word; });
}

}  // namespace viaduct::am
