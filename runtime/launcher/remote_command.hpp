#pragma once
/// @file
/// --remote-command: the words that run a command on a host.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace viaduct::launcher {

/// The words of @p text, as a shell splits them: white space separates, quotes and backslashes
/// protect; nothing is expanded. Nothing when a quote is not closed.
[[nodiscard]] std::optional<std::vector<std::string>> split_words(std::string_view text);

/// @p text as one word for a shell, in quotes.
[[nodiscard]] std::string quoted(std::string_view text);

/// What split_words() takes @p words from, for people: words in quotes where they need them.
[[nodiscard]] std::string text_of_words(std::span<const std::string> words);

/// The words of @p command_template, with {host} and {command} replaced. Without {command} the
/// command stands at the end, without either of the two the host before it.
/// @pre split_words() takes the template.
[[nodiscard]] std::vector<std::string> remote_words(const std::string& command_template,
                                                    const std::string& host,
                                                    const std::string& command);

}  // namespace viaduct::launcher
