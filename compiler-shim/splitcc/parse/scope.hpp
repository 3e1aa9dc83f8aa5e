#pragma once
/// @file
/// The meaning of names, by scope.

#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler-shim/splitcc/ast/ast.hpp"

namespace viaduct::splitcc {

class Scopes {
 public:
  void enter() { marks_.push_back(log_.size()); }
  void leave() {
    for (; log_.size() > marks_.back(); log_.pop_back()) {
      if (log_.back().is_tag)
        tags_[log_.back().name].pop_back();
      else
        symbols_[log_.back().name].pop_back();
    }
    marks_.pop_back();
  }
  /// 0 at file scope.
  [[nodiscard]] int depth() const { return static_cast<int>(marks_.size()); }
  void leave_to(int depth) {
    while (this->depth() > depth) leave();
  }

  [[nodiscard]] Symbol* find(std::string_view name) const { return top(symbols_, name); }
  [[nodiscard]] Symbol* find_here(std::string_view name) const {
    Symbol* const s = find(name);
    return s != nullptr && s->depth == depth() ? s : nullptr;
  }
  void add(Symbol* symbol) {
    symbol->depth = depth();
    symbols_[symbol->name].push_back(symbol);
    if (!marks_.empty()) log_.push_back({symbol->name, false});
  }
  /// Adds a symbol at file scope, in whichever scope the parser is.
  void add_global(Symbol* symbol) {
    auto& list = symbols_[symbol->name];
    symbol->depth = 0;
    list.insert(list.begin(), symbol);
  }

  /// Replaces the symbol that has this name at file scope.
  void replace_global(Symbol* symbol) {
    symbol->depth = 0;
    symbols_[symbol->name].front() = symbol;
  }

  [[nodiscard]] Type* find_tag(std::string_view name) const { return top(tags_, name); }
  [[nodiscard]] Type* find_tag_here(std::string_view name) const {
    Type* const t = find_tag(name);
    return t != nullptr && t->tag->depth == depth() ? t : nullptr;
  }
  void add_tag(std::string_view name, Type* type) {
    type->tag->depth = depth();
    tags_[name].push_back(type);
    if (!marks_.empty()) log_.push_back({name, true});
  }

 private:
  struct Entry {
    std::string_view name;
    bool is_tag;
  };
  template <class T>
  using Table = std::unordered_map<std::string_view, std::vector<T*>>;
  template <class T>
  static T* top(const Table<T>& table, std::string_view name) {
    const auto found = table.find(name);
    return found == table.end() || found->second.empty() ? nullptr : found->second.back();
  }

  Table<Symbol> symbols_;
  Table<Type> tags_;
  std::vector<Entry> log_;
  std::vector<std::size_t> marks_;
};

}  // namespace viaduct::splitcc
