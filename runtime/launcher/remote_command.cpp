#include "runtime/launcher/remote_command.hpp"

#include <algorithm>

namespace viaduct::launcher {
namespace {

constexpr std::string_view kHost = "{host}";
constexpr std::string_view kCommand = "{command}";
constexpr std::string_view kBlanks = " \t\r\n";

bool names(const std::vector<std::string>& words, std::string_view what) {
  return std::any_of(words.begin(), words.end(), [what](const std::string& word) {
    return word.find(what) != std::string::npos;
  });
}

void replace_all(std::string& text, std::string_view what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

/// Takes one quoted part off the front of @p rest, behind its opening quote. False: it has no end.
bool take_quoted(std::string_view& rest, char quote, std::string& word) {
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == quote) {
      rest.remove_prefix(i + 1);
      return true;
    }
    const bool escaped = quote == '"' && rest[i] == '\\' && i + 1 < rest.size() &&
                         std::string_view("\"\\$`").find(rest[i + 1]) != std::string_view::npos;
    if (escaped) ++i;
    word += rest[i];
  }
  return false;
}

/// Takes one word off the front of @p rest. False: a quote is not closed.
bool take_word(std::string_view& rest, std::string& word) {
  while (!rest.empty() && kBlanks.find(rest.front()) == std::string_view::npos) {
    const char next = rest.front();
    rest.remove_prefix(1);
    if (next == '\'' || next == '"') {
      if (!take_quoted(rest, next, word)) return false;
    } else if (next == '\\') {
      if (rest.empty()) return false;
      word += rest.front();
      rest.remove_prefix(1);
    } else {
      word += next;
    }
  }
  return true;
}

}  // namespace

std::optional<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (text.empty()) return words;
    std::string word;
    if (!take_word(text, word)) return std::nullopt;
    words.push_back(word);
  }
}

std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string text_of_words(std::span<const std::string> words) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-{}[]";
  std::string text;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && word.find_first_not_of(kPlain) == std::string::npos;
    text += (text.empty() ? "" : " ") + (plain ? word : quoted(word));
  }
  return text;
}

std::vector<std::string> remote_words(const std::string& command_template, const std::string& host,
                                      const std::string& command) {
  std::vector<std::string> words = split_words(command_template).value();
  const bool has_command = names(words, kCommand);
  if (!has_command && !names(words, kHost)) words.emplace_back(kHost);
  if (!has_command) words.emplace_back(kCommand);
  for (std::string& word : words) {
    replace_all(word, kHost, host);
    replace_all(word, kCommand, command);
  }
  return words;
}

}  // namespace viaduct::launcher
