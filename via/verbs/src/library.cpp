#include "via/verbs/src/library.hpp"

#include <dlfcn.h>

#include <string>

#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via::verbs {

namespace {

constexpr const char* kName = "libibverbs.so.1";

class Loader {
 public:
  Loader() : handle_(dlopen(kName, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr)
      throw Error(errors::rdma_device, std::errc::no_such_device,
                  std::string("provider verbs needs libibverbs, which cannot be loaded (") +
                      dlerror() +
                      "): install it with the devices' drivers (Debian: libibverbs1 and "
                      "ibverbs-providers), or, with all ranks on one host, use provider shm");
  }

  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(handle_, name));
    if (function == nullptr)
      throw Error(
          errors::rdma_device, std::errc::no_such_device,
          std::string(kName) + " has no function " + name + ": it is older than version 28");
  }

 private:
  void* handle_;  // never closed: objects of the library live as long as the process
};

Library load() {
  Loader loader;
  Library l{};
#define VIADUCT_VERBS_FIND(prefix, name) loader.find(l.name, #prefix #name);
  VIADUCT_VERBS_FUNCTIONS(VIADUCT_VERBS_FIND)
#undef VIADUCT_VERBS_FIND
  return l;
}

}  // namespace

const Library& library() {
  static Library loaded = load();
  return loaded;
}

}  // namespace viaduct::via::verbs
