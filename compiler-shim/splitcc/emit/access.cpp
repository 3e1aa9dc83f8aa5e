// Addresses of objects in other processes, and the calls that read and write them.

#include <fmt/format.h>

#include "compiler-shim/splitcc/emit/emitter.hpp"
#include "compiler-shim/splitcc/sema/sema.hpp"

namespace viaduct::splitcc {
namespace {

// The letter or number in the names of the functions for a type, or nothing.
std::string suffix(const Type* type) {
  if (type->kind == Kind::float_type) return "_f";
  if (type->kind == Kind::double_type) return "_d";
  const int bytes = word_bytes(type);
  return bytes == 0 ? std::string() : std::to_string(bytes);
}

bool is_float(const Type* type) {
  return type->kind == Kind::float_type || type->kind == Kind::double_type;
}

// Bytes of a value for which the runtime's header has functions; 0: any other value.
int bytes_of(const Type* type) {
  if (type->kind == Kind::float_type) return 4;
  return type->kind == Kind::double_type ? 8 : word_bytes(type);
}

bool is_remote_bit_field(const Expr* e) {
  return e->mode == Mode::remote && strip(e)->is_bit_field;
}

std::string plain_operator(std::string_view assignment) {
  return std::string(assignment.substr(0, assignment.size() - 1));
}

}  // namespace

// The word of a spread array, or of a part of one selected by some of its subscripts.
void Emitter::word(Expr* e) {
  Expr* const inner = strip(e);
  if (inner->mode == Mode::remote) return address(inner);
  if (inner->node != Node::index) return expr(inner);
  raw(" vsc_spread_add(");
  word(inner->a);
  raw(", (long)(");
  expr(inner->b);
  raw(fmt::format(") * (long)({}), {})", product(inner->type->bounds, 0),
                  size_of(inner->type->base)));
}

void Emitter::address(Expr* e) {
  Expr* const o = strip(e);
  switch (o->node) {
    case Node::deref:
      raw("(");
      expr(o->a);
      raw(")");
      return;
    case Node::index: {
      const Type* const base = o->a->type;
      const bool spread = base->kind != Kind::global_pointer;
      raw(spread ? " vsc_spread_add(" : " vsc_add(");
      if (base->kind == Kind::spread_array)
        word(o->a);
      else
        expr(o->a);
      raw(", (long)(");
      expr(o->b);
      const std::string size = size_of(o->type);
      raw(spread ? "), " + size + ")" : ") * (long)(" + size + "))");
      return;
    }
    case Node::member:
    case Node::arrow:
      raw(" (");
      if (o->node == Node::member)
        address(o->a);
      else
        expr(o->a);
      raw(fmt::format(" + __builtin_offsetof({}, {}))", name_of(o->type_name), o->member_name));
      return;
    case Node::unary:  // __real__, __imag__
      raw(" (");
      address(o->a);
      raw(o->op == Tok::kw_imag ? " + " + size_of(o->type) + ")" : ")");
      return;
    case Node::conditional:
      raw(" (");
      expr(o->a);
      raw(" ? ");
      address(o->b);
      raw(" : ");
      address(o->c);
      raw(")");
      return;
    case Node::comma:
      raw(" (");
      expr(o->a);
      raw(", ");
      address(o->b);
      raw(")");
      return;
    default:
      expr(o);
  }
}

// The call for an access of the type's size, up to the arguments that give the place.
std::string Emitter::access_of(const Expr* e, const char* verb, const Type* type) {
  const std::string own = suffix(type);
  const int bytes = bytes_of(type);
  word_sizes_ |= bytes;
  if (e->walk != Walk::none) walk_sizes_ |= bytes;
  if (is_float(type)) float_sizes_ |= bytes;
  switch (e->walk) {
    case Walk::none:
      break;
    case Walk::pointer:
      return fmt::format("vsc_walk_{}{}(&vsc_w{}, ", verb, own, e->number);
    case Walk::spread:
      return fmt::format("vsc_span_{}{}(&vsc_w{}, ", verb, own, e->number);
  }
  return fmt::format("vsc_{}{}(", verb, own);
}

// The arguments that give the place of an access.
void Emitter::place(const Expr* e, Expr* object) {
  object = strip(object);
  if (e->walk != Walk::spread) return address(object);
  if (object->a->type->kind == Kind::spread_array)
    word(object->a);
  else
    expr(object->a);
  raw(", (long)(");
  expr(object->b);
  raw(")");
}

// A read from the word @p from, with the type of e.
void Emitter::read_word(const Expr* e, const std::string& from) {
  const Type* const type = e->type;
  if (!is_float(type) && !is_word(type)) raw("(" + name_of(type) + ")");
  raw(access_of(e, "read", type) + from + ")");
}

void Emitter::load(Expr* e) {
  Expr* const object = strip(e->a);
  const Type* const type = e->type;
  const std::string own = suffix(type);
  if (object->is_bit_field) {
    // The bit-field's whole structure is read.
    raw(fmt::format(" ({{ {0} vsc_t{1}; vsc_read(&vsc_t{1}, ", name_of(object->type_name),
                    e->number));
    if (object->node == Node::member)
      address(object->a);
    else
      expr(object->a);
    raw(fmt::format(", sizeof vsc_t{0}); vsc_t{0}.{1}; }})", e->number, object->member_name));
    return;
  }
  if (own.empty()) {
    raw(fmt::format(" ({{ {0} vsc_t{1}; vsc_read(&vsc_t{1}, ", name_of(type), e->number));
    address(object);
    raw(fmt::format(", sizeof vsc_t{0}); vsc_t{0}; }})", e->number));
    return;
  }
  const bool cast = !is_float(type) && !is_word(type);
  raw(cast ? fmt::format(" (({})", name_of(type)) : " ");
  raw(access_of(e, "read", type));
  place(e, object);
  raw(cast ? "))" : ")");
}

// A word moved by some elements.
std::string Emitter::moved(const Type* type, const std::string& what, const std::string& by) {
  const std::string size = size_of(type->base);
  return type->kind == Kind::spread_pointer
             ? fmt::format("vsc_spread_add({}, {}, {})", what, by, size)
             : fmt::format("vsc_add({}, {} * (long)({}))", what, by, size);
}

// verb(to, value): the text before the value.
void Emitter::write_open(const char* verb, const Expr* e, bool unused) {
  const Type* const type = e->a->type;
  if (!unused && !is_float(type) && !is_word(type)) raw("(" + name_of(type) + ")");
  raw(access_of(e, verb, type));
}

// = op= ++ -- := of a bit-field of another process: its bytes are read, changed and written.
void Emitter::bit_field(Expr* e) {
  const Expr* const field = strip(e->a);
  const std::string p = fmt::format("vsc_p{}", e->number);
  const std::string v = fmt::format("vsc_t{}", e->number);
  const std::string m = fmt::format("vsc_m{}", e->number);
  const std::string own = v + "." + std::string(field->member_name);
  raw(fmt::format(" ({{ vsc_word {} = ", p));
  if (field->node == Node::member)
    address(field->a);
  else
    expr(field->a);
  raw(fmt::format("; {}, {}; ", name_of(field->type_name, v), m));
  const bool step = e->node == Node::prefix || e->node == Node::postfix;
  const bool plain = !step && (e->op == Tok::equal || e->node == Node::get_put);
  if (plain)
    raw(fmt::format("__builtin_memset(&{0}, 0, sizeof {0}); ", v));
  else
    raw(fmt::format("vsc_read(&{0}, {1}, sizeof {0}); ", v, p));
  const std::string old = fmt::format("vsc_o{}", e->number);
  if (e->node == Node::postfix) raw(fmt::format("{} = {}; ", name_of(e->type, old), own));
  if (step) {
    raw(fmt::format("{}{}; ", own, e->op == Tok::plus_plus ? "++" : "--"));
  } else {
    raw(fmt::format("{} {} (", own, plain ? "=" : unit_.text(e->at)));
    expr(e->b);
    raw("); ");
  }
  raw(
      fmt::format("__builtin_memset(&{0}, 0, sizeof {0}); {0}.{1} = -1; "
                  "vsc_write_bits({2}, &{3}, &{0}, sizeof {0}); ",
                  m, field->member_name, p, v));
  // The value is the field itself: a copy of it would not be promoted as a bit-field is.
  if (e->node == Node::postfix) raw(fmt::format("{} = {}; ", own, old));
  if (e->node != Node::get_put) raw(own + "; ");
  raw("})");
}

// (char)x = v, (char)x += v, ++(char)x: the value is converted to the cast's type, and then to x's.
void Emitter::convert_and_write(Expr* e) {
  const Expr* const target = strip(e->a);
  Expr* const object = target->a;
  const bool remote = object->mode == Mode::remote;
  const std::string own = "(" + name_of(object->type) + ")";
  const std::string to = "(" + name_of(target->type) + ")";
  const std::string p = fmt::format("vsc_p{}", e->number);
  const std::string o = fmt::format("vsc_o{}", e->number);
  if (remote) {
    raw(fmt::format(" ({{ vsc_word {} = ", p));
    address(object);
  } else {
    raw(fmt::format(" ({{ {} = &(", name_of(unit_.types.pointer_to(object->type), p)));
    expr(object);
    raw(")");
  }
  const std::string old =
      to + (remote ? own + access_of(e, "read", object->type) + p + ")" : "*" + p);
  const bool step = e->node != Node::assign;
  const std::string by = e->op == Tok::plus_plus ? " + 1" : " - 1";
  raw(fmt::format("; {} = ", name_of(target->type, o)));
  if (step) {
    raw(e->node == Node::postfix ? old : fmt::format("{}({}{})", to, old, by));
  } else {
    raw(to + "(");
    if (e->op != Tok::equal) raw(old + " " + plain_operator(unit_.text(e->at)) + " ");
    raw("(");
    expr(e->b);
    raw("))");
  }
  const std::string next = e->node == Node::postfix ? fmt::format("{}({}{})", to, o, by) : o;
  if (remote)
    raw("; " + access_of(e, "write", object->type) + p + ", " +
        (is_local_pointer(object->type) ? "(unsigned long)" : "") + own + next + ")");
  else
    raw(fmt::format("; *{} = {}{}", p, own, next));
  raw("; " + o + "; })");
}

bool Emitter::step(Expr* e) {
  if (is_converting_target(e->a)) {
    convert_and_write(e);
    return true;
  }
  if (is_remote_bit_field(e->a)) {
    bit_field(e);
    return true;
  }
  const Type* const type = e->type;
  const std::string by = e->op == Tok::plus_plus ? "1L" : "-1L";
  const bool old = e->node == Node::postfix && !e->is_unused;
  const std::string p = fmt::format("vsc_p{}", e->number);
  const std::string o = fmt::format("vsc_o{}", e->number);
  if (e->a->mode != Mode::remote) {
    if (!is_word(type)) return false;
    Expr* const target = strip(e->a);
    if (target->node == Node::name) {
      const std::string name = text_of(target);
      if (old)
        raw(fmt::format(" ({{ vsc_word {1} = {0}; {0} = {2}; {1}; }})", name, o,
                        moved(type, name, by)));
      else
        raw(fmt::format(" ({} = {})", name, moved(type, name, by)));
      return true;
    }
    raw(fmt::format(" ({{ vsc_word *{} = &(", p));
    expr(e->a);
    raw(fmt::format("), {1} = *{0}; *{0} = {2}; {3}; }})", p, o, moved(type, o, by),
                    old ? o : "*" + p));
    return true;
  }
  raw(fmt::format(" ({{ vsc_word {} = ", p));
  address(e->a);
  raw(fmt::format("; {} = ", name_of(type, o)));
  const std::string own = suffix(type);
  if (own.empty()) {
    raw(fmt::format(
        "({{ {0} vsc_t; vsc_read(&vsc_t, {1}, sizeof vsc_t); vsc_t; }}); {2} = {3} {4}; "
        "vsc_write({1}, &{5}, sizeof {5}); {6}; }})",
        name_of(type), p, name_of(type, o + "n"), o, e->op == Tok::plus_plus ? "+ 1" : "- 1",
        o + "n", old ? o : o + "n"));
    return true;
  }
  read_word(e, p);
  const std::string next =
      is_word(type) ? moved(type, o, by)
      : is_local_pointer(type)
          ? fmt::format("(unsigned long)({} + {})", o, by)
          : fmt::format("({})({} {} 1)", name_of(type), o, e->op == Tok::plus_plus ? "+" : "-");
  raw("; ");
  write_open("write", e, old || e->is_unused);
  raw(fmt::format("{}, {}); ", p, next));
  if (old) raw(o + "; ");
  raw("})");
  return true;
}

bool Emitter::assign(Expr* e) {
  if (is_converting_target(e->a)) {
    convert_and_write(e);
    return true;
  }
  if (is_remote_bit_field(e->a)) {
    bit_field(e);
    return true;
  }
  const Type* const type = e->type;
  const std::string p = fmt::format("vsc_p{}", e->number);
  const bool plain = e->op == Tok::equal;
  if (e->a->mode != Mode::remote) {
    if (plain || !is_word(type)) return false;
    const std::string by =
        fmt::format("{}(long)({})", e->op == Tok::minus_equal ? "-" : "", text_of(e->b));
    Expr* const target = strip(e->a);
    if (target->node == Node::name) {
      const std::string name = text_of(target);
      raw(fmt::format(" ({} = {})", name, moved(type, name, by)));
      return true;
    }
    raw(fmt::format(" ({{ vsc_word *{} = &(", p));
    expr(e->a);
    raw(fmt::format("); *{0} = {1}; }})", p, moved(type, "*" + p, by)));
    return true;
  }
  if (plain) {
    raw(e->is_unused ? " " : " (");
    send("write", e);
    if (!e->is_unused) raw(")");
    return true;
  }
  raw(fmt::format(" ({{ vsc_word {} = ", p));
  address(e->a);
  raw("; ");
  const std::string op = plain_operator(unit_.text(e->at));
  if (suffix(type).empty()) {
    const std::string t = fmt::format("vsc_t{}", e->number);
    raw(fmt::format("{}; vsc_read(&{t}, {}, sizeof {t}); {t} = {t} {} (", name_of(type, t), p, op,
                    fmt::arg("t", t)));
    expr(e->b);
    raw(fmt::format("); vsc_write({}, &{t}, sizeof {t}); {t}; }})", p, fmt::arg("t", t)));
    return true;
  }
  write_open("write", e, e->is_unused);
  raw(p + ", ");
  if (is_word(type)) {
    const std::string by =
        fmt::format("{}(long)({})", e->op == Tok::minus_equal ? "-" : "", text_of(e->b));
    raw(moved(type, access_of(e, "read", type) + p + ")", by));
  } else {
    raw(is_local_pointer(type) ? "(unsigned long)(" : "(" + name_of(type) + ")(");
    read_word(e, p);
    raw(" " + op + " (");
    expr(e->b);
    raw("))");
  }
  raw("); })");
  return true;
}

// A value to an object of another process: write, put or store.
void Emitter::send(const char* verb, Expr* e) {
  const Type* const type = e->a->type;
  const bool has_value = e->node == Node::assign && !e->is_unused;
  if (suffix(type).empty()) {
    const std::string t = fmt::format("vsc_t{}", e->number);
    raw(fmt::format("({{ {} = ", name_of(type, t)));
    expr(e->b);
    raw(fmt::format("; vsc_{}(", verb));
    address(e->a);
    raw(fmt::format(", &{0}, sizeof {0}); {1}}})", t, has_value ? t + "; " : ""));
    return;
  }
  write_open(verb, e, !has_value);
  place(e, e->a);
  raw(is_word(type)            ? ", "
      : is_local_pointer(type) ? ", (unsigned long)(" + name_of(type) + ")("
                               : ", (" + name_of(type) + ")(");
  expr(e->b);
  raw(is_word(type) ? ")" : "))");
}

void Emitter::get_put(Expr* e) {
  if (is_remote_bit_field(e->a)) return bit_field(e);
  raw(" ");
  if (e->a->mode == Mode::remote) return send("put", e);
  const Type* const type = e->b->type;
  const int bytes = bytes_of(type);
  word_sizes_ |= bytes;
  raw(bytes == 0 ? "vsc_get(&(" : fmt::format("vsc_get{}(&(", bytes));
  expr(e->a);
  raw("), ");
  address(e->b);
  raw(bytes == 0 ? ", " + size_of(type) + ")" : ")");
}

void Emitter::store(Expr* e) {
  raw(" ");
  send("store", e);
}

void Emitter::atomic(Expr* e) {
  const int n = e->number;
  raw(fmt::format(" ({{ vsc_word vsc_p{} = ", n));
  expr(e->args[1]);
  raw(fmt::format("; struct vsc_atomic_{0} vsc_x{0} = {{ vsc_local(vsc_p{0})", n));
  for (std::size_t i = 2; i < e->args.size(); ++i) {
    raw(", ");
    expr(e->args[i]);
  }
  raw(" }; ");
  const bool answers = e->type->kind != Kind::void_type;
  const std::string r = fmt::format("vsc_r{}", n);
  if (answers) raw(name_of(e->type, r) + "; ");
  raw(fmt::format(
      "vsc_atomic(vsc_p{0}, vsc_thunk_{0}, &vsc_x{0}, sizeof "
      "vsc_x{0}, {1}); {2}}})",
      n, answers ? fmt::format("&{0}, sizeof {0}", r) : "(void *)0, 0UL", answers ? r + "; " : ""));
}

}  // namespace viaduct::splitcc
