#include "tests/splitc/neg_objects.hpp"

global_ptr<int> number(global_ptr<Node> n) {
#ifdef VIADUCT_NEGATIVE
  return n.field(&std::pair<int, int>::first);
#else
  return n.field(&Node::number);
#endif
}
