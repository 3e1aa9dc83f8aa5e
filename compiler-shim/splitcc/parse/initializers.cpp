// Initializers: every value is converted to the type of the object that it initializes.

#include <fmt/format.h>

#include "compiler-shim/splitcc/parse/parser.hpp"

namespace viaduct::splitcc {

Expr* Parser::initializer(Type* type, bool is_static) {
  const Depth depth(*this);
  return kind() == Tok::l_brace ? initializer_list(type, is_static)
                                : initializer_value(type, is_static);
}

// The linker knows the address; the process is known only when the program runs.
bool Parser::static_word(Expr* e, const Type* type) {
  Expr* word = strip(e);
  if (type->kind != Kind::global_pointer || !path_known_) return false;
  if (word->node != Node::globalize &&
      !(word->node == Node::cast && is_local_pointer(sema_.value_type(word->a))))
    return false;
  word->is_static_word = true;
  static_words_.push_back({nullptr, path_, sema_.next_number()});
  return true;
}

Expr* Parser::initializer_value(Type* type, bool is_static) {
  Expr* e = assignment();
  const bool aggregate = type->kind == Kind::array;
  if (aggregate) {
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
  Expr* const list = sema_.make(Node::init_list, first, first, first);
  list->type = type;
  list->is_constant = true;
  initializer_items(list, type, is_static, true);
  list->last = expect(Tok::r_brace, "'}'", " behind an initializer");
  for (const Expr* item : list->args) {
    list->special = list->special || item->special;
    list->has_effect = list->has_effect || item->has_effect;
    list->is_constant = list->is_constant && item->is_constant;
  }
  return list;
}

// [2] = , .name = , name: , [1 ... 3] = : the type of the member or element that it names.
Type* Parser::designator(Type* type, std::size_t* member) {
  bool any = false;
  for (;;) {
    if (kind() == Tok::l_bracket) {
      ++at_;
      root(sema_.value(conditional()));
      if (accept(Tok::ellipsis)) root(sema_.value(conditional()));
      expect(Tok::r_bracket, "']'", " in an initializer");
      type = type->kind == Kind::array ? type->base : sema_.error_type();
      any = true;
    } else if (kind() == Tok::dot || (!any && kind() == Tok::identifier && kind(1) == Tok::colon)) {
      accept(Tok::dot);
      if (kind() != Tok::identifier) fail_expected("a member's name", "");
      const Member* found = nullptr;
      if (is_record(type)) {
        found = find_member(type->tag, text());
        const auto& all = type->tag->members;
        for (std::size_t i = 0; i < all.size(); ++i)
          if (&all[i] == found && !any) *member = i;
        if (found == nullptr)
          sema_.error_at(at_, fmt::format("'{}' has no member '{}'", describe(type), text()));
      }
      ++at_;
      type = found == nullptr ? sema_.error_type() : found->type;
      if (accept(Tok::colon)) return type;
      any = true;
    } else {
      break;
    }
  }
  if (any) accept(Tok::equal);
  return type;
}

// The values for one aggregate: up to its brace, or, where its braces are left out, as many as the
// aggregate has members.
void Parser::initializer_items(Expr* list, Type* type, bool is_static, bool braced) {
  const Depth depth(*this);
  std::size_t member = 0;
  std::size_t count = 0;
  while (kind() != Tok::r_brace && !at_end()) {
    const bool named = kind() == Tok::l_bracket || kind() == Tok::dot ||
                       (kind() == Tok::identifier && kind(1) == Tok::colon);
    if (named && !braced) return;
    Type* item = nullptr;
    if (named) {
      item = designator(type, &member);
    } else if (is_record(type)) {
      if (member >= type->tag->members.size()) {
        if (!braced) return;
        item = sema_.error_type();
      } else {
        item = type->tag->members[member].type;
      }
    } else if (type->kind == Kind::array) {
      item = type->base;
    } else {
      item = count == 0 ? type : sema_.error_type();
    }
    const std::string outer = path_;
    const bool outer_known = path_known_;
    if (named) path_known_ = false;
    if (is_record(type) && member < type->tag->members.size() &&
        !type->tag->members[member].name.empty())
      path_ += "." + std::string(type->tag->members[member].name);
    else if (type->kind == Kind::array)
      path_ += fmt::format("[{}]", count);
    else if (is_record(type))
      path_known_ = false;
    ++member;
    ++count;
    if (kind() != Tok::l_brace && holds_word(item) && !is_word(item)) {
      // The member's braces are left out: the values go to its own members.
      const int before = at_;
      initializer_items(list, item, is_static, false);
      if (at_ == before) fail_expected("a value", " in an initializer");
    } else if (kind() == Tok::l_brace) {
      list->args.push_back(initializer(item, is_static));
    } else if (item->kind == Kind::array || is_record(item)) {
      // Plain C: the shape of the initializer does not matter.
      Expr* e = assignment();
      list->args.push_back(sema_.value(e));
    } else {
      list->args.push_back(initializer_value(item, is_static));
    }
    path_ = outer;
    path_known_ = outer_known && !named;
    if (!braced && is_record(type) &&
        (member >= type->tag->members.size() || type->kind == Kind::union_type))
      return;
    if (!braced && kind() == Tok::comma && kind(1) == Tok::r_brace) return;
    if (kind() != Tok::comma) return;
    if (!braced && type->kind == Kind::array && type->bounds.front().size != nullptr &&
        unit_.text(type->bounds.front().size->first) == std::to_string(count))
      return;
    ++at_;
  }
}

}  // namespace viaduct::splitcc
