// Initializers: every value is converted to the type of the object that it initializes. Inner
// braces may be left out, and designators may name parts (C99 6.7.8).

#include <fmt/format.h>
#include <limits>
#include <utility>

#include "compiler-shim/splitcc/parse/parser.hpp"

namespace viaduct::splitcc {
namespace {

constexpr long kOpen = std::numeric_limits<long>::max();  // elements of `[]`

// The static words that one `[first ... last] =` may make.
constexpr std::size_t kMostRepeated = 1U << 16U;

bool is_aggregate(const Type* type) { return type->kind == Kind::array || is_record(type); }

// Whether the expression initializes the whole aggregate, and not its first part alone.
bool initializes_whole(const Expr* e, const Type* type) {
  if (!is_aggregate(type) || is_error(e->type)) return true;
  if (is_record(type))
    return (is_record(e->type) && e->type->tag == type->tag) || e->type->kind == Kind::opaque;
  const Expr* const inner = strip(e);
  if (inner->node == Node::compound) return e->type->kind == Kind::array;
  return inner->node == Node::string && is_integer(type->base) &&
         (word_bytes(type->base) == 1) == (word_bytes(e->type->base) == 1);
}

}  // namespace

Expr* Parser::initializer(Type* type, bool is_static) {
  if (kind() == Tok::l_brace) return initializer_list(type, is_static);
  return initializer_value(assignment(), type, is_static);
}

// The linker knows the address; the process is known only when the program runs.
bool Parser::static_word(Expr* e, const Type* type) {
  Expr* word = strip(e);
  if (type->kind != Kind::global_pointer) return false;
  // Casts between types of global pointers.
  while (word->node == Node::cast && sema_.value_type(word->a)->kind == Kind::global_pointer)
    word = strip(word->a);
  if (word->node != Node::globalize &&
      !(word->node == Node::cast && is_local_pointer(sema_.value_type(word->a))))
    return false;
  if (!part_.known) {
    sema_.error(
        e, fmt::format("splitcc does not know which object this '{}' initializes", describe(type)),
        "a static global pointer gets its process before splitc_main, in an object that "
        "has a name, at a subscript that is a number: assign in splitc_main");
    return true;
  }
  word->is_static_word = true;
  static_words_.push_back({nullptr, part_.path, sema_.next_number()});
  return true;
}

Expr* Parser::initializer_value(Expr* e, Type* type, bool is_static) {
  if (type->kind == Kind::array) {
    // A string, or a compound literal.
    if (strip(e)->node != Node::string && strip(e)->node != Node::compound && !is_error(e->type) &&
        e->node != Node::other)
      sema_.error(e, fmt::format("an initializer for '{}' stands in braces", describe(type)));
    return e;
  }
  e = sema_.convert(e, type, Use::initializer);
  if (is_static && is_word(type) && !e->is_zero && !is_error(sema_.value_type(e)) &&
      !static_word(e, type))
    sema_.error(e, "the initializer of a static global pointer is neither 0 nor a local pointer",
                "which process is meant is not known before the program runs: assign in "
                "splitc_main");
  return e;
}

Expr* Parser::initializer_list(Type* type, bool is_static) {
  const Brackets brackets(*this);
  const int first = expect(Tok::l_brace, "'{'", "");
  first_value_ = nullptr;
  Expr* const list = sema_.make(Node::init_list, first, first, first);
  list->type = type;
  list->is_constant = true;
  initializer_items(list, type, is_static, Braces::given);
  list->last = expect(Tok::r_brace, "'}'", " behind an initializer");
  for (const Expr* item : list->args) {
    list->special = list->special || item->special;
    list->has_effect = list->has_effect || item->has_effect;
    list->is_constant = list->is_constant && item->is_constant;
  }
  return list;
}

// The parts that values without designators initialize, one after another; nothing where splitcc
// does not know the number.
std::optional<long> Parser::parts_of(const Type* type) const {
  if (is_record(type)) {
    const std::size_t members = type->tag->members.size();
    return type->kind == Kind::union_type && members > 1 ? 1 : static_cast<long>(members);
  }
  if (type->kind != Kind::array) return 1;
  if (type->bounds.empty() || type->bounds.front().size == nullptr) return kOpen;
  const std::optional<Linear> size = sema_.known(type->bounds.front().size);
  return size && size->procs == 0 ? std::optional<long>(size->fixed) : std::nullopt;
}

bool Parser::starts_designator(int ahead) const {
  const Tok behind = kind(ahead + 1);
  return kind(ahead) == Tok::l_bracket || kind(ahead) == Tok::dot ||
         (kind(ahead) == Tok::identifier && (behind == Tok::colon || behind == Tok::store));
}

// One step of a designator: [2], [1 ... 3], .name, or name: of gcc 2.
Parser::Step Parser::designator(const Type* type) {
  Step step;
  if (accept(Tok::l_bracket)) {
    const auto subscript = [this] {
      const std::optional<Linear> number = sema_.known(root(sema_.value(conditional())));
      return number && number->procs == 0 ? number->fixed : -1;
    };
    step.first = subscript();
    step.last = accept(Tok::ellipsis) ? subscript() : step.first;
    step.known = type->kind == Kind::array && step.first >= 0 && step.last >= step.first;
    if (!step.known) step.first = step.last = 0;
    expect(Tok::r_bracket, "']'", " in an initializer");
  } else {
    const int begin = at_;
    const bool dot = accept(Tok::dot);
    if (kind() != Tok::identifier) fail_expected("a member's name", "");
    step.known = is_record(type) && find_member(type->tag, text()) != nullptr;
    if (!step.known && !is_error(type))
      sema_.error_at(at_, fmt::format("'{}' has no member '{}'", describe(type), text()));
    for (std::size_t i = 0; step.known && i < type->tag->members.size(); ++i) {
      const Member& m = type->tag->members[i];
      const bool within = m.name.empty() && is_record(m.type) && find_member(m.type->tag, text());
      if (m.name != text() && !within) continue;
      step.first = step.last = static_cast<long>(i);
      if (within) at_ = begin;  // the same name once more, as one of the unnamed member's
      step.goes_on = within;
      if (within) return step;
    }
    ++at_;
    if (!dot && kind() == Tok::store) split_store();  // name:-1
    if (!dot) {
      expect(Tok::colon, "':'", "");
      return step;
    }
  }
  step.goes_on = kind() == Tok::l_bracket || kind() == Tok::dot;
  if (!step.goes_on) accept(Tok::equal);
  return step;
}

// From the outer object to its part.
Type* Parser::enter_part(Type* type, long index, bool known) {
  part_.known = part_.known && known;
  const std::size_t at = static_cast<std::size_t>(index);
  if (type->kind == Kind::array) {
    if (part_.recorded) part_.path += fmt::format("[{}]", index);
    return type->base;
  }
  if (!is_record(type)) return index == 0 ? type : sema_.error_type();
  if (at >= type->tag->members.size()) return sema_.error_type();
  const Member& member = type->tag->members[at];
  if (part_.recorded && !member.name.empty()) part_.path += "." + std::string(member.name);
  return member.type;
}

// `[1 ... 3] = value`: the words of the first element, for the other ones.
void Parser::repeat_words(std::size_t from, std::size_t prefix, const Step& step) {
  const std::size_t to = static_words_.size();
  if (from == to) return;
  if (static_cast<std::size_t>(step.last - step.first) > kMostRepeated / (to - from)) {
    sema_.error_at(at_ - 1, "too many static global pointers in one initializer",
                   "assign them in splitc_main");
    return;
  }
  const std::size_t own = fmt::format("[{}]", step.first).size();
  for (long i = step.first + 1; i <= step.last; ++i)
    for (std::size_t w = from; w < to; ++w) {
      const std::string path = static_words_[w].path;
      static_words_.push_back(
          {nullptr, path.substr(0, prefix) + fmt::format("[{}]", i) + path.substr(prefix + own),
           sema_.next_number()});
    }
}

// The value for one part. Where the braces of an aggregate are left out, the value is for the
// aggregate's first part, and further values are for the next ones.
void Parser::initializer_item(Expr* list, Type* type, bool is_static) {
  if (first_value_ == nullptr && kind() == Tok::l_brace) {
    list->args.push_back(initializer_list(type, is_static));
    return;
  }
  Expr* const e = first_value_ == nullptr ? assignment() : std::exchange(first_value_, nullptr);
  if (initializes_whole(e, type)) {
    list->args.push_back(initializer_value(e, type, is_static));
    return;
  }
  first_value_ = e;
  initializer_items(list, type, is_static, Braces::left_out);
}

// The values for one aggregate: up to its brace, or, where its braces are left out, as many as the
// aggregate has parts.
void Parser::initializer_items(Expr* list, Type* type, bool is_static, Braces braces) {
  std::optional<Depth> depth;
  if (braces != Braces::given) depth.emplace(*this);  // the braces have counted
  const Part outer = part_;
  const bool braced = braces == Braces::given;
  bool designated = braces == Braces::designated;
  const std::optional<long> parts = parts_of(type);
  if (!parts && !braced) {
    if (holds_word(list->type))
      sema_.error_at(
          first_value_ == nullptr ? at_ : first_value_->at,
          fmt::format("splitcc does not know how many elements this '{}' has", describe(type)),
          "write the inner braces of the initializer");
    type = unit_.types.make(Kind::array, sema_.error_type());
  }
  if (braced) part_.recorded = is_static && holds_word(type);
  for (Step step;; ++step.last) {
    step = {step.last, step.last, true, false};
    if (first_value_ == nullptr && (kind() == Tok::r_brace || at_end())) break;
    const bool named = first_value_ == nullptr && starts_designator();
    if (named && !braced && !designated) break;  // a designator of the aggregate around
    designated = false;
    if (named) step = designator(type);
    const bool beyond = named && is_record(type) ? !step.known : step.last >= parts.value_or(kOpen);
    if (beyond && !braced) break;
    const std::size_t words = static_words_.size();
    part_ = {outer.path, outer.known, part_.recorded};
    Type* const item = beyond ? sema_.error_type() : enter_part(type, step.first, step.known);
    if (step.goes_on)
      initializer_items(list, item, is_static, Braces::designated);
    else
      initializer_item(list, item, is_static);
    if (step.last > step.first) repeat_words(words, outer.path.size(), step);
    if (first_value_ != nullptr) continue;  // the part is empty
    const bool full = type->kind == Kind::union_type || step.last + 1 >= parts.value_or(kOpen);
    const bool ends = kind() == Tok::comma && (kind(1) == Tok::r_brace || starts_designator(1));
    if (!braced && (full || ends)) break;
    if (!accept(Tok::comma)) break;
  }
  part_ = outer;
}

}  // namespace viaduct::splitcc
