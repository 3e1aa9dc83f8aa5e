// Statements. They leave no tree: only the expressions in them are of interest.

#include <fmt/format.h>

#include "compiler-shim/splitcc/parse/parser.hpp"

namespace viaduct::splitcc {

void Parser::compound(bool opens_scope) {
  const int open = expect(Tok::l_brace, "'{'", "");
  if (opens_scope) scopes_.enter();
  while (kind() != Tok::r_brace) {
    if (at_end()) {
      sema_.error_at(open, "this brace is not closed");
      throw SyntaxError();
    }
    block_item();
  }
  ++at_;
  if (opens_scope) scopes_.leave();
}

// Errors end here: the next statement is read.
void Parser::block_item() {
  const int before = at_;
  const int scope = scopes_.depth();
  const int nesting = nesting_;
  const std::size_t functions = functions_.size();
  try {
    if (kind() == Tok::kw_label) {
      nested_label();
    } else if (starts_declaration()) {
      declaration(false);
    } else {
      statement();
    }
  } catch (const SyntaxError&) {
    if (diagnostics_.is_full()) throw;
    scopes_.leave_to(scope);
    nesting_ = nesting;
    functions_.resize(functions);
    if (at_ == before && kind() != Tok::r_brace) ++at_;
    skip_statement();
    if (at_end()) throw;
  }
}

void Parser::nested_label() {
  ++at_;
  while (kind() == Tok::identifier) {
    ++at_;
    if (!accept(Tok::comma)) break;
  }
  expect(Tok::semicolon, "';'", " behind __label__");
}

void Parser::statement() {
  const Depth depth(*this);
  switch (kind()) {
    case Tok::pragma:
      ++at_;
      if (kind() != Tok::r_brace) block_item();
      return;
    case Tok::l_brace:
      return compound(true);
    case Tok::semicolon:
      ++at_;
      return;
    case Tok::kw_if:
      return if_statement();
    case Tok::kw_while:
      return while_statement();
    case Tok::kw_do:
      return do_statement();
    case Tok::kw_for:
      return for_statement();
    case Tok::kw_return:
      return return_statement();
    case Tok::kw_asm:
      return asm_statement();
    case Tok::kw_switch: {
      ++at_;
      expect(Tok::l_paren, "'('", " behind switch");
      Expr* const e = sema_.value(expression());
      if (!is_integer(sema_.value_type(e)) && !is_error(sema_.value_type(e)))
        sema_.error(e, fmt::format("switch over '{}'", describe(e->type)));
      root(e);
      expect(Tok::r_paren, "')'", "");
      return branch(nullptr);
    }
    case Tok::kw_case:
      sema_.label();
      ++at_;
      root(sema_.value(conditional()));
      if (accept(Tok::ellipsis)) root(sema_.value(conditional()));
      expect(Tok::colon, "':'", " behind case");
      if (kind() != Tok::r_brace) block_item();
      return;
    case Tok::kw_default:
      sema_.label();
      ++at_;
      expect(Tok::colon, "':'", " behind default");
      if (kind() != Tok::r_brace) block_item();
      return;
    case Tok::kw_break:
    case Tok::kw_continue:
      ++at_;
      expect(Tok::semicolon, "';'", "");
      return;
    case Tok::kw_goto:
      jumps_.jump(++at_);
      if (accept(Tok::star))
        root(sema_.value(expression()));
      else
        expect(Tok::identifier, "a label", " behind goto");
      expect(Tok::semicolon, "';'", " behind goto");
      return;
    case Tok::kw_else:
      fail("an else without its if");
    case Tok::identifier:
      if (kind(1) == Tok::colon) {
        sema_.label();
        jumps_.label(at_);
        at_ += 2;
        skip_attributes();
        if (kind() != Tok::r_brace) block_item();
        return;
      }
      check_construct();
      if (kind(1) == Tok::identifier && scopes_.find(text()) == nullptr) fail_type();
      if (kind(1) == Tok::star && kind(2) == Tok::identifier && scopes_.find(text()) == nullptr &&
          scopes_.find(text(2)) == nullptr)
        fail_type();
      break;
    default:
      break;
  }
  root(sema_.unused(expression()));
  expect(Tok::semicolon, "';'", " behind this statement");
}

// `forall (i = 0; i < n; i++) ...` and `splitphase { ... }`: one message for all of it.
void Parser::check_construct() {
  if (scopes_.find(text()) != nullptr) return;
  const std::string message = fmt::format("'{}' is no statement that is known here", text());
  const std::string rule = text().substr(0, 7) == "for_my_" || text().substr(0, 3) == "on_"
                               ? "#include <split-c/control.h> defines such words"
                               : "";
  if (kind(1) == Tok::l_brace) fail(message, rule);
  if (kind(1) != Tok::l_paren) return;
  const int word = at_;
  int depth = 0;
  bool parts = false;
  for (++at_; !at_end(); ++at_) {
    if (kind() == Tok::l_brace || kind() == Tok::r_brace) break;
    if (kind() == Tok::l_paren) ++depth;
    if (kind() == Tok::semicolon && depth == 1) parts = true;
    if (kind() == Tok::r_paren && --depth == 0) break;
  }
  const bool construct = kind() == Tok::r_paren && (parts || kind(1) == Tok::l_brace);
  if (!construct) {
    at_ = word;
    return;
  }
  sema_.error_at(word, message, rule);
  throw SyntaxError();
}

// A statement that a condition or a loop leads to.
void Parser::branch(const Expr* condition) {
  sema_.enter_branch(condition);
  statement();
  sema_.leave_branch();
}

void Parser::if_statement() {
  for (;;) {
    ++at_;
    expect(Tok::l_paren, "'('", " behind if");
    const Expr* const condition = root(sema_.condition(expression()));
    expect(Tok::r_paren, "')'", "");
    branch(condition);
    if (!accept(Tok::kw_else)) return;
    if (kind() != Tok::kw_if) break;  // chains of any length, without recursion
  }
  branch(nullptr);
}

void Parser::while_statement() {
  ++at_;
  expect(Tok::l_paren, "'('", " behind while");
  sema_.enter_loop();
  const Expr* const condition = root(sema_.condition(expression()));
  expect(Tok::r_paren, "')'", "");
  branch(condition);
  sema_.leave_loop();
}

void Parser::do_statement() {
  ++at_;
  sema_.enter_loop();
  branch(nullptr);
  sema_.leave_loop();
  expect(Tok::kw_while, "'while'", " behind the body of do");
  expect(Tok::l_paren, "'('", " behind while");
  root(sema_.condition(expression()));
  expect(Tok::r_paren, "')'", "");
  expect(Tok::semicolon, "';'", "");
}

// A declaration in the head of a loop that becomes more than one in C stands before the loop, both
// in braces: `{ vsc_word g = ...; int i = 0; for (; ...) ... }`.
Declaration* Parser::loop_declaration(int keyword) {
  const int first = at_;
  if (unit_.standard == Standard::gnu89 && !token().in_system_header)
    sema_.error_at(at_, "a declaration in the head of 'for'",
                   "C has it since C99: compile with -std=gnu99, or declare before the loop");
  declaration(false);
  const auto edit = unit_.edits.find(first);
  if (edit == unit_.edits.end() || edit->second.what != Edit::What::declaration) return nullptr;
  Declaration* const all = edit->second.declaration;
  const bool single = all->declarators.size() == 1 && !all->specifiers.defines_tag &&
                      all->declarators.front().type->kind != Kind::spread_array &&
                      all->specifiers.storage == Storage::none;
  if (single) return nullptr;
  Edit before;
  before.what = Edit::What::loop;
  before.last = all->last;
  before.declaration = all;
  unit_.edits.erase(edit);
  unit_.edits[keyword] = before;
  return all;
}

void Parser::for_statement() {
  const int keyword = at_++;
  expect(Tok::l_paren, "'('", " behind for");
  scopes_.enter();
  const Declaration* before = nullptr;
  if (starts_declaration()) {
    before = loop_declaration(keyword);
  } else {
    if (kind() != Tok::semicolon) root(sema_.unused(expression()));
    expect(Tok::semicolon, "';'", " in for");
  }
  sema_.enter_loop();
  if (kind() != Tok::semicolon) root(sema_.condition(expression()));
  expect(Tok::semicolon, "';'", " in for");
  if (kind() != Tok::r_paren) {
    Expr* const step = sema_.unused(expression());
    sema_.loop_step(step);
    root(step);
  }
  expect(Tok::r_paren, "')'", " in for");
  branch(nullptr);
  sema_.leave_loop();
  scopes_.leave();
  if (before != nullptr) unit_.behind[at_ - 1] += " }";
}

void Parser::return_statement() {
  const int keyword = at_++;
  const Function* const function = functions_.empty() ? nullptr : &functions_.back();
  if (kind() == Tok::semicolon) {
    if (function != nullptr && function->is_splitc_main && is_integer(function->result))
      unit_.replaced[keyword] = "return 0";
    ++at_;
    return;
  }
  Expr* e = expression();
  Type* const result = function == nullptr ? sema_.int_type() : function->result;
  if (result->kind == Kind::void_type)
    e = sema_.value(e);
  else
    e = sema_.convert(e, result, Use::result, "the result");
  root(e);
  expect(Tok::semicolon, "';'", " behind return");
}

void Parser::asm_statement() {
  ++at_;
  while (kind() == Tok::kw_volatile || kind() == Tok::kw_goto || kind() == Tok::kw_inline) ++at_;
  if (kind() != Tok::l_paren) fail_expected("'('", " behind asm");
  ++at_;
  while (kind() != Tok::r_paren) {
    if (at_end()) fail_expected("')'", " behind asm");
    if (kind() == Tok::l_paren) {
      // An operand.
      ++at_;
      Expr* const e = expression();
      if (e->special)
        sema_.error(e, "an operand of asm that is not plain C",
                    "copy it to a local variable first");
      expect(Tok::r_paren, "')'", "");
    } else {
      ++at_;
    }
  }
  ++at_;
  expect(Tok::semicolon, "';'", " behind asm");
}

}  // namespace viaduct::splitcc
