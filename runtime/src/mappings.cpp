#include "runtime/mappings.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

namespace viaduct {

void subtract(std::vector<PageRange>& from, PageRange hole) {
  std::vector<PageRange> rest;
  for (const PageRange& r : from) {
    const PageRange before{r.begin, std::min(r.end, hole.begin)};
    const PageRange after{std::max(r.begin, hole.end), r.end};
    if (hole.begin >= hole.end || hole.end <= r.begin || hole.begin >= r.end) {
      rest.push_back(r);
      continue;
    }
    if (before.begin < before.end) rest.push_back(before);
    if (after.begin < after.end) rest.push_back(after);
  }
  from = std::move(rest);
}

std::vector<Mapping> mappings_at(PageRange range) {
  std::vector<Mapping> found;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/self/maps", "re"),
                                                   std::fclose);
  if (file == nullptr) return found;
  char* line = nullptr;
  std::size_t room = 0;
  ssize_t length = 0;
  while ((length = ::getline(&line, &room, file.get())) > 0) {
    PageRange at;
    char rights[5] = {};
    std::uint64_t inode = 0;
    int name = 0;
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*x %*x:%*x %" SCNu64 " %n", &at.begin,
                    &at.end, rights, &inode, &name) != 4)
      continue;
    if (at.begin >= range.end) break;
    if (at.end <= range.begin) continue;
    std::string text(line + name, static_cast<std::size_t>(length - name));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    found.push_back({at, rights[3] == 'p' && inode == 0, std::move(text)});
  }
  std::free(line);
  return found;
}

}  // namespace viaduct
