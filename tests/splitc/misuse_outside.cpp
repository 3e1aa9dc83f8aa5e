/// @file
/// Uses Split-C before splitc_main, or after it, as the argument says, and must not come to its
/// end.

#include <cstdio>
#include <string_view>

#include "splitc/splitc.hpp"

namespace {

using namespace viaduct::splitc;

int g_here = 0;

void use(std::string_view how) {
  const auto p = global_ptr<int>::from_word(viaduct::splitc::detail::make_word(0, 0x1000000000));
  if (how == "read") (void)read(p);
  if (how == "write") write(p, 1);
  if (how == "get") get(&g_here, p);
  if (how == "put") put(p, 1);
  if (how == "store") store(p, 1);
  if (how == "store_sync") store_sync(0);
  if (how == "all_store_sync") all_store_sync();
  if (how == "sync") splitc::sync();
  if (how == "barrier") barrier();
  if (how == "poll") poll();
  if (how == "bulk_read") bulk_read(&g_here, p, 1);
  if (how == "bulk_store") bulk_store(p, &g_here, 1);
  if (how == "fetch_add") (void)fetch_add(p, 1);
  if (how == "all_malloc") (void)all_malloc<int>(1);
  if (how == "all_reduce") (void)all_reduce_add(1);
  if (how == "toglobal") (void)toglobal(&g_here);
  if (how == "lock") lock(global_ptr<lock_t>(p));
}

int body(int, char**) { return 0; }

}  // namespace

int splitc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  const std::string_view when = argc > 2 ? argv[1] : "";
  if (when == "before") use(argv[2]);
  const int code = run(body, argc, argv);
  if (when == "after") use(argv[2]);
  std::puts("nothing stopped this process");
  return code != 0 ? code : 3;
}
