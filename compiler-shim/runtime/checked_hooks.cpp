#include "compiler-shim/runtime/checked.hpp"

namespace viaduct::shim::checked {

const Hooks* hooks = nullptr;

}  // namespace viaduct::shim::checked
