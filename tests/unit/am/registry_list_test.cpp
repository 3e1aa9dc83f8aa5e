// The order of handlers, and what is said when two lists differ: on made-up modules.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "am/src/handler_list.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::am {
namespace {

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

HandlerEntry entry(std::uintptr_t address, const char* name, std::uint32_t bytes = 4) {
  return {at(address), nullptr, name, bytes, nullptr};
}

Module module(const char* identity, std::uintptr_t base) {
  return {identity, base, {{base, base + 0x1000}}};
}

std::vector<std::string> names(const std::vector<ListedHandler>& list) {
  std::vector<std::string> result;
  for (const ListedHandler& handler : list) result.push_back(handler.name);
  return result;
}

std::string message_of_list(const std::vector<HandlerEntry>& entries,
                            const std::vector<Module>& modules) {
  try {
    static_cast<void>(list_handlers(entries, modules));
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(HandlerList,
     order_is_by_build_then_offset_whatever_the_order_of_registration_and_the_addresses) {
  const std::vector<Module> low_b{module("a", 0x70000), module("b", 0x10000)};
  const std::vector<Module> low_a{module("b", 0x90000), module("a", 0x20000)};
  const std::vector<HandlerEntry> one{entry(0x10010, "b1"), entry(0x70020, "a2"),
                                      entry(0x70008, "a1")};
  const std::vector<HandlerEntry> other{entry(0x20008, "a1"), entry(0x20020, "a2"),
                                        entry(0x90010, "b1")};

  const auto list = list_handlers(one, low_b);
  EXPECT_EQ(names(list), (std::vector<std::string>{"a1", "a2", "b1"}));
  EXPECT_EQ(list[0].entries, std::vector<std::size_t>{2});
  EXPECT_EQ(digests_of(list), digests_of(list_handlers(other, low_a)));
}

TEST(HandlerList, name_signature_offset_and_build_all_count) {
  const std::vector<Module> modules{module("a", 0x10000), module("b", 0x20000)};
  const auto digest_of = [&](const HandlerEntry& e) {
    return digests_of(list_handlers(std::array{e}, modules)).front();
  };
  const auto base = digest_of(entry(0x10010, "f", 4));
  EXPECT_EQ(base, digest_of(entry(0x10010, "f", 4)));
  EXPECT_NE(base, digest_of(entry(0x10010, "g", 4)));
  EXPECT_NE(base, digest_of(entry(0x10010, "f", 8)));
  EXPECT_NE(base, digest_of(entry(0x10011, "f", 4)));
  EXPECT_NE(base, digest_of(entry(0x20010, "f", 4)));
}

TEST(HandlerList, one_function_registered_twice_is_one_handler) {
  const std::vector<HandlerEntry> entries{entry(0x10010, "f"), entry(0x10000, "e"),
                                          entry(0x10010, "f")};
  const auto list = list_handlers(entries, std::array{module("a", 0x10000)});
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[1].entries, (std::vector<std::size_t>{0, 2}));
}

TEST(HandlerList, functions_that_the_linker_folded_into_one_stay_two_handlers) {
  const std::vector<HandlerEntry> entries{entry(0x10010, "g"), entry(0x10010, "f")};
  const auto list = list_handlers(entries, std::array{module("a", 0x10000)});
  EXPECT_EQ(names(list), (std::vector<std::string>{"f", "g"}));
}

TEST(HandlerList, functions_of_one_name_at_two_places_stay_two_handlers) {
  // Two files may each have a function f in an unnamed namespace.
  const std::vector<HandlerEntry> entries{entry(0x10020, "f"), entry(0x10010, "f")};
  const auto list = list_handlers(entries, std::array{module("a", 0x10000)});
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].entries, std::vector<std::size_t>{1});
  EXPECT_EQ(list[1].entries, std::vector<std::size_t>{0});
}

TEST(HandlerList, two_copies_of_one_library_are_an_error) {
  const std::string message =
      message_of_list({entry(0x10010, "on_ping"), entry(0x20010, "on_ping")},
                      {module("same", 0x10000), module("same", 0x20000)});
  EXPECT_NE(message.find("on_ping is loaded twice"), std::string::npos) << message;
  EXPECT_NE(message.find("[VIA-3009]"), std::string::npos) << message;
}

TEST(HandlerList, a_handler_outside_every_module_is_an_error_and_its_name_is_not_read) {
  const auto* gone = reinterpret_cast<const char*>(std::uintptr_t{8});
  const std::string message =
      message_of_list({entry(0x10010, "f"), entry(0x11000, gone)}, {module("a", 0x10000)});
  EXPECT_NE(message.find("handler number 1"), std::string::npos) << message;
  EXPECT_NE(message.find("keep it open"), std::string::npos) << message;
}

TEST(HandlerList, first_difference_is_found_at_the_front_in_the_middle_and_where_one_list_ends) {
  using Digests = std::vector<std::uint64_t>;
  const Digests list{1, 2, 3};
  EXPECT_EQ(first_difference(list, Digests{9, 2, 3}), 0U);
  EXPECT_EQ(first_difference(list, Digests{1, 9, 3}), 1U);
  EXPECT_EQ(first_difference(list, Digests{1, 2}), 2U);
  EXPECT_EQ(first_difference(Digests{}, list), 0U);
}

TEST(HandlerList, a_difference_names_handler_ranks_programs_and_remedy) {
  const auto list = list_handlers(std::array{entry(0x10010, "on_ping(Token&, int)")},
                                  std::array{module("cafe01", 0x10000)});
  const std::string sentence =
      explain_difference(2, {0, "/opt/a", line_of(list.front())}, {5, "/opt/b", ""});
  for (const char* part :
       {"handler 258", "rank 0 (/opt/a)", "on_ping(Token&, int) (4 bytes of arguments)",
        "offset 0x10 of build cafe01", "rank 5 (/opt/b) has no more handlers", "one build"}) {
    EXPECT_NE(sentence.find(part), std::string::npos) << part << " in: " << sentence;
  }
}

TEST(HandlerList, a_line_of_any_bytes_is_described_without_harm) {
  const std::string rubbish = "\t\t\t\t\t\n\xff";
  EXPECT_FALSE(explain_difference(0, {0, "", rubbish}, {1, "", "no tabs"}).empty());
}

}  // namespace
}  // namespace viaduct::am
