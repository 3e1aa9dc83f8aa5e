#pragma once
/// @file
/// Sentences of viaduct-run itself, on standard error.

#include <chrono>
#include <exception>
#include <string>

namespace viaduct::launcher {

/// Hands "viaduct-run: SENTENCE" to a thread that writes it. When standard error takes nothing for
/// so long that too much waits, sentences are dropped, and their number is said once it takes
/// something again.
///
/// Blocks      never, whatever becomes of standard error
/// Call from   any thread
/// Order       sentences of one thread appear in the order of the calls
void say(const std::string& sentence);

/// @return the text of @p problem, a sentence also where memory has run out.
[[nodiscard]] std::string sentence_of(const std::exception& problem);

/// Waits until all that was said has been written or cannot be.
///
/// Blocks      until then; at most for @p limit while standard error takes nothing, and for 20
/// times
///             as long where the machine is too busy to write
/// @return     false when the time was up
bool said_all_within(std::chrono::milliseconds limit);

}  // namespace viaduct::launcher
