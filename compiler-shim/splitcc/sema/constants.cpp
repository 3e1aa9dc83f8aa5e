// Numbers that are known before the program runs: constants, and constants times PROCS.

#include <fmt/format.h>
#include <charconv>

#include "compiler-shim/splitcc/sema/sema.hpp"

namespace viaduct::splitcc {
namespace {

using Number = std::optional<Linear>;

Number sum(const Linear& a, const Linear& b) {
  Linear r;
  if (__builtin_add_overflow(a.fixed, b.fixed, &r.fixed) ||
      __builtin_add_overflow(a.procs, b.procs, &r.procs))
    return std::nullopt;
  return r;
}

Number product(const Linear& a, const Linear& b) {
  if (a.procs != 0 && b.procs != 0) return std::nullopt;
  const Linear& one = a.procs != 0 ? a : b;
  const long factor = a.procs != 0 ? b.fixed : a.fixed;
  Linear r;
  if (__builtin_mul_overflow(one.fixed, factor, &r.fixed) ||
      __builtin_mul_overflow(one.procs, factor, &r.procs))
    return std::nullopt;
  return r;
}

Number negative(const Linear& a) { return product(a, {-1, 0}); }

bool fits_shift(long by) { return by >= 0 && by < 62; }

// Of two plain numbers.
std::optional<long> combine(Tok op, long a, long b) {
  switch (op) {
    case Tok::slash:
      return b == 0 || b == -1 ? std::nullopt : std::optional<long>(a / b);
    case Tok::percent:
      return b == 0 || b == -1 ? std::nullopt : std::optional<long>(a % b);
    case Tok::less_less:
      if (!fits_shift(b) || a < 0 || a > (1L << (62 - b)) - 1) return std::nullopt;
      return a << b;
    case Tok::greater_greater:
      return fits_shift(b) ? std::optional<long>(a >> b) : std::nullopt;
    case Tok::amp:
      return a & b;
    case Tok::pipe:
      return a | b;
    case Tok::caret:
      return a ^ b;
    case Tok::less:
      return a < b ? 1 : 0;
    case Tok::greater:
      return a > b ? 1 : 0;
    case Tok::less_equal:
      return a <= b ? 1 : 0;
    case Tok::greater_equal:
      return a >= b ? 1 : 0;
    case Tok::equal_equal:
      return a == b ? 1 : 0;
    case Tok::exclaim_equal:
      return a != b ? 1 : 0;
    case Tok::amp_amp:
      return a != 0 && b != 0 ? 1 : 0;
    case Tok::pipe_pipe:
      return a != 0 || b != 0 ? 1 : 0;
    default:
      return std::nullopt;
  }
}

Number joined(Tok op, const Linear& a, const Linear& b) {
  if (op == Tok::plus) return sum(a, b);
  if (op == Tok::minus) {
    const Number minus = negative(b);
    return minus ? sum(a, *minus) : std::nullopt;
  }
  if (op == Tok::star) return product(a, b);
  if (a.procs != 0 || b.procs != 0) return std::nullopt;
  const std::optional<long> result = combine(op, a.fixed, b.fixed);
  return result ? Number({*result, 0}) : std::nullopt;
}

Number literal(std::string_view text) {
  if (text.size() == 3 && text.front() == '\'' && text[1] != '\\')
    return text[1] > 0 ? Number({text[1], 0}) : std::nullopt;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const bool hex = text.size() > 2 && (text[1] | 32) == 'x';
  const int base = hex ? 16 : text.front() == '0' ? 8 : 10;
  if (hex) text.remove_prefix(2);
  Linear r;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), r.fixed, base);
  if (parsed.ec != std::errc{}) return std::nullopt;
  const std::string_view rest(parsed.ptr,
                              static_cast<std::size_t>(text.data() + text.size() - parsed.ptr));
  if (rest.find_first_not_of("uUlL") != std::string_view::npos) return std::nullopt;
  return r;
}

}  // namespace

namespace {

bool is_unsigned(const Type* type) {
  return type->kind == Kind::uint || type->kind == Kind::ulong || type->kind == Kind::ullong;
}

// Numbers of one type; an unsigned one wraps around instead of being negative.
bool holds(const Type* type, long number) {
  if (is_unsigned(type) && number < 0) return false;
  if (type->kind == Kind::integer) return number == static_cast<int>(number);
  return type->kind != Kind::uint || number == static_cast<unsigned>(number);
}

}  // namespace

std::optional<Linear> Sema::known(const Expr* e) const {
  e = strip(e);
  const Number number = e == nullptr ? std::nullopt : calculated(e);
  return number && number->procs == 0 && !holds(e->type, number->fixed) ? std::nullopt : number;
}

// By numbers without bounds.
std::optional<Linear> Sema::calculated(const Expr* e) const {
  switch (e->node) {
    case Node::literal:
      return literal(unit_.text(e->first));
    case Node::name:
      if (e->symbol->what == Symbol::What::builtin && e->symbol->name == "__splitc_procs")
        return Linear{0, 1};
      if (e->symbol->what == Symbol::What::enumerator && e->symbol->has_value)
        return Linear{e->symbol->number, 0};
      return std::nullopt;
    case Node::unary: {
      const Number a = known(e->a);
      if (!a) return std::nullopt;
      if (e->op == Tok::plus) return a;
      if (e->op == Tok::minus) return negative(*a);
      if (a->procs != 0) return std::nullopt;
      if (e->op == Tok::tilde) return Linear{~a->fixed, 0};
      if (e->op == Tok::exclaim) return Linear{a->fixed == 0 ? 1 : 0, 0};
      return std::nullopt;
    }
    case Node::binary: {
      const Number a = known(e->a);
      const Number b = a ? known(e->b) : std::nullopt;
      if (!b) return std::nullopt;
      // A negative number wraps around where the other one is unsigned.
      const bool wraps = (is_unsigned(e->a->type) && b->fixed < 0 && b->procs == 0) ||
                         (is_unsigned(e->b->type) && a->fixed < 0 && a->procs == 0);
      return wraps ? std::nullopt : joined(e->op, *a, *b);
    }
    case Node::conditional: {
      const Number test = known(e->a);
      if (!test || test->procs != 0 || e->b == nullptr) return std::nullopt;
      return known(test->fixed != 0 ? e->b : e->c);
    }
    case Node::cast:
      return word_bytes(e->type) >= 4 && is_integer(e->type) ? known(e->a) : std::nullopt;
    case Node::size_of:
      return is_sure(e->a) ? known_size(e->a->type) : std::nullopt;
    case Node::size_of_type:
      return known_size(e->type_name);
    default:
      return std::nullopt;
  }
}

std::optional<Linear> Sema::known_size(const Type* type) const {
  switch (type->kind) {
    case Kind::float_type:
      return Linear{4, 0};
    case Kind::double_type:
    case Kind::pointer:
    case Kind::global_pointer:
    case Kind::spread_pointer:
      return Linear{8, 0};
    case Kind::array: {
      const Number count = type->bounds.empty() ? std::nullopt : known(type->bounds.front().size);
      const Number element = count ? known_size(type->base) : std::nullopt;
      return element ? product(*count, *element) : std::nullopt;
    }
    default: {
      const int bytes = is_integer(type) ? word_bytes(type) : 0;
      return bytes > 0 ? Number({bytes, 0}) : std::nullopt;
    }
  }
}

std::optional<Linear> Sema::known_count(const Type* spread) const {
  Number count = Linear{1, 0};
  for (const Bound& b : spread->bounds) {
    const Number bound = known(b.size);
    count = bound ? product(*count, *bound) : std::nullopt;
    if (!count) break;
  }
  return count;
}

std::string describe(const Linear& number) {
  if (number.procs == 0) return std::to_string(number.fixed);
  std::string text = number.procs == 1    ? "PROCS"
                     : number.procs == -1 ? "-PROCS"
                                          : fmt::format("{} * PROCS", number.procs);
  if (number.fixed > 0) text += fmt::format(" + {}", number.fixed);
  if (number.fixed < 0) text += fmt::format(" - {}", -number.fixed);
  return text;
}

bool is_at_least(const Linear& a, const Linear& b) {
  Linear d;
  if (__builtin_sub_overflow(a.fixed, b.fixed, &d.fixed) ||
      __builtin_sub_overflow(a.procs, b.procs, &d.procs))
    return false;
  long least = 0;  // with one process
  return d.procs >= 0 && !__builtin_add_overflow(d.fixed, d.procs, &least) && least >= 0;
}

}  // namespace viaduct::splitcc
