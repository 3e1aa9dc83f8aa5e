// Subscripts and blocks that reach beyond one process' part of a spread array.

#include <fmt/format.h>

#include "compiler-shim/splitcc/sema/sema.hpp"

namespace viaduct::splitcc {
namespace {

// The spread array that an element or a block belongs to, by subscripts alone; null: none.
const Expr* array_of(const Expr* e) {
  e = strip(e);
  while (e != nullptr && (e->node == Node::index || e->node == Node::decay)) e = strip(e->a);
  return e != nullptr && e->node == Node::name && e->type->kind == Kind::spread_array ? e : nullptr;
}

bool names_parameter(const Expr* array) { return array != nullptr && array->symbol->is_parameter; }

}  // namespace

// e: the object of another process that is read or written. Loads inside e have been checked
// already.
void Sema::check_bounds(const Expr* e) {
  for (e = strip(e); e != nullptr && e->node != Node::load; e = strip(e->a)) {
    if (e->node == Node::conditional || e->node == Node::comma) return;  // checked as values
    if (e->node != Node::index) continue;
    const Expr* const base = strip(e->a);
    const Expr* const array = array_of(base);
    if (base->type->kind == Kind::spread_array)
      check_subscript(e->b, base->type->bounds.front(), "spread bound", names_parameter(array));
    else if (base->node == Node::decay && array != nullptr && base->a->type->kind == Kind::array &&
             !base->a->type->bounds.empty())
      check_subscript(e->b, base->a->type->bounds.front(), "dimension", names_parameter(array));
  }
}

void Sema::check_subscript(const Expr* subscript, const Bound& bound, const char* what,
                           bool of_parameter) {
  const std::optional<Linear> number = known(subscript);
  const std::optional<Linear> count = known(bound.size);
  if (!number) return;
  const bool before = is_at_least({-1, 0}, *number) && number->procs <= 0 && !of_parameter;
  if (!before && (!count || !is_at_least(*number, *count))) return;
  const std::string written = source_of(subscript);
  const std::string value = describe(*number);
  const std::string name = written == value
                               ? "the subscript " + value
                               : fmt::format("the subscript '{}', which is {},", written, value);
  std::string remedy = "use 0 or more";
  if (count) remedy = fmt::format("use 0 to {}", describe(Linear{count->fixed - 1, count->procs}));
  if (!before) remedy += ", or declare more elements";
  warn(Warning::plain, subscript->first,
       before ? name + " is before the first element"
              : fmt::format("{} is beyond the {} elements of the {}", name, describe(*count), what),
       "what lies there is another element or no element: " + remedy);
}

// A call of a bulk operation: the bytes that it moves lie in one process.
void Sema::check_bulk(const Expr* call) {
  const std::string_view name = strip(call->a)->symbol->name;
  const bool reads = name == "bulk_read" || name == "bulk_get";
  const bool writes = name == "bulk_write" || name == "bulk_put" || name == "bulk_store";
  if ((!reads && !writes) || call->args.size() != 3) return;
  const Expr* const given = strip(call->args[reads ? 1 : 0]);
  const Expr* there = given;
  while (there->node == Node::cast || there->node == Node::globalize) there = strip(there->a);
  if (there->node == Node::address) there = strip(there->a);
  const Expr* const array = array_of(there);
  if (array == nullptr) return;
  const Expr* part = there;
  while (part->node == Node::decay) part = strip(part->a);
  if (part->node == Node::index && part->type->kind == Kind::spread_array) {
    const std::optional<Linear> count = known_count(part->type);
    warn(Warning::plain, part->first,
         fmt::format("'{}' is a row of {} elements that are dealt to the processes, and {} moves "
                     "bytes of one process",
                     source_of(part), count ? describe(*count) : "several", name),
         fmt::format("give every subscript of the spread dimensions and move one element or block "
                     "in each call; what is to be moved at once stands right of the '::' of '{}'",
                     array->symbol->name));
    return;
  }
  check_whole(call, array);
}

// The bytes of the whole array.
void Sema::check_whole(const Expr* call, const Expr* array) {
  const std::optional<Linear> count = known_count(array->type);
  const std::optional<Linear> size = known_size(array->type->base);
  const std::optional<Linear> bytes = known(call->args[2]);
  if (!count || !size || !bytes || size->procs != 0 || (count->procs == 0 && count->fixed < 2))
    return;
  Linear all;
  if (__builtin_mul_overflow(count->fixed, size->fixed, &all.fixed) ||
      __builtin_mul_overflow(count->procs, size->fixed, &all.procs) || !is_at_least(*bytes, all))
    return;
  warn(Warning::plain, call->args[2]->first,
       fmt::format("{} bytes are all {} elements of '{}', and each process holds a part of them",
                   describe(*bytes), describe(*count), array->symbol->name),
       fmt::format("{} moves bytes of one process: move the elements of each process by a call of "
                   "its own",
                   strip(call->a)->symbol->name));
}

}  // namespace viaduct::splitcc
