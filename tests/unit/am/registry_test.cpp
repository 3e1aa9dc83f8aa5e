// Handler identity in one process: real modules, and agreement in a job of one rank.

#include "viaduct/am/registry.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "am/src/modules.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::am {
namespace {

void on_first() {}
void on_second() { std::abort(); }
void on_late() { std::exit(3); }
void thunk_of_first(Token&, const Arrival&) {}
void thunk_of_second(Token&, const Arrival&) { std::abort(); }

const void* address_of(void (*function)()) { return reinterpret_cast<const void*>(function); }

struct Registered {
  std::uint16_t handler_number = 0;
  Registered(void (*function)(), Thunk thunk, const char* name) {
    register_handler({address_of(function), thunk, name, 4, &handler_number});
  }
};
const Registered second{on_second, thunk_of_second, "on_second"};
const Registered first{on_first, thunk_of_first, "on_first"};
const Registered first_again{on_first, thunk_of_first, "on_first"};

std::string agreement_error() {
  try {
    Job job;
    static_cast<void>(agree_on_handlers(job));
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

std::vector<Module> containing(const void* address) {
  std::vector<Module> found = loaded_modules();
  std::erase_if(found, [&](const Module& m) {
    return !m.contains(reinterpret_cast<std::uintptr_t>(address));
  });
  return found;
}

TEST(Modules, a_function_lies_in_one_module_named_by_its_build_id) {
  const auto own = containing(address_of(on_first));
  ASSERT_EQ(own.size(), 1U);
  EXPECT_GE(own[0].identity.size(), 16U);
  EXPECT_EQ(own[0].identity.find_first_not_of("0123456789abcdef"), std::string::npos)
      << own[0].identity;

  const auto libc = containing(dlsym(RTLD_DEFAULT, "getppid"));
  ASSERT_EQ(libc.size(), 1U);
  EXPECT_NE(libc[0].identity, own[0].identity);
}

TEST(Modules, without_a_build_id_the_file_name_and_the_size_of_the_code_stand_in) {
  void* const library = dlopen(VIADUCT_LIBRARY_WITHOUT_BUILD_ID, RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto found = containing(dlsym(library, "viaduct_test_symbol"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].identity.rfind("libregistry_no_build_id.so+", 0), 0U) << found[0].identity;
  dlclose(library);
}

TEST(Registry, ids_are_dense_from_256_and_lead_to_the_thunks) {
  Job job;
  const auto thunks = agree_on_handlers(job);
  ASSERT_GE(std::min(first.handler_number, second.handler_number), kFirstTypedId);
  ASSERT_LT(std::max(first.handler_number, second.handler_number), kFirstTypedId + thunks.size());
  EXPECT_EQ(std::count(thunks.begin(), thunks.end(), nullptr), 0);
  EXPECT_NE(first.handler_number, second.handler_number);
  EXPECT_EQ(first.handler_number, first_again.handler_number);
  EXPECT_EQ(thunks[first.handler_number - kFirstTypedId], &thunk_of_first);
  EXPECT_EQ(thunks[second.handler_number - kFirstTypedId], &thunk_of_second);
  EXPECT_STREQ(handler_name(first.handler_number), "on_first");
  EXPECT_STREQ(handler_name(second.handler_number), "on_second");
}

TEST(Registry, another_agreement_and_another_job_give_the_same_table) {
  const Thunk* table = nullptr;
  {
    Job job;
    table = agree_on_handlers(job).data();
    EXPECT_EQ(agree_on_handlers(job).data(), table);
  }
  const std::uint16_t id = first.handler_number;
  Job job;
  EXPECT_EQ(agree_on_handlers(job).data(), table);
  EXPECT_EQ(first.handler_number, id);
}

TEST(Registry, an_id_that_is_not_registered_has_a_name_for_messages) {
  EXPECT_STREQ(handler_name(12), "12 (of the endpoint's own table)");
  EXPECT_STREQ(handler_name(65535), "65535 (not registered)");
}

// The cases that leave the process' registry unusable end a copy of the process.
void agree_register_agree() {
  {
    Job job;
    static_cast<void>(agree_on_handlers(job));
  }
  const Registered late{on_late, thunk_of_first, "on_late"};
  const std::string message = agreement_error();
  std::fputs(message.c_str(), stderr);
  std::_Exit(late.handler_number >= kFirstLateId ? 0 : 1);
}

TEST(RegistryDeathTest, a_handler_that_comes_after_the_agreement_is_named_at_the_next) {
  EXPECT_EXIT(agree_register_agree(), testing::ExitedWithCode(0), "on_late; load every library");
}

TEST(RegistryDeathTest, a_handler_in_a_closed_library_is_an_error) {
  const auto agree = [] {
    std::uint16_t id = 0;
    register_handler({&id, thunk_of_first, "on_stack", 4, &id});  // a stack is no module
    std::fputs(agreement_error().c_str(), stderr);
    std::_Exit(0);
  };
  EXPECT_EXIT(agree(), testing::ExitedWithCode(0), "is in none of the modules");
}

TEST(RegistryDeathTest, too_many_handlers_stop_the_program_with_the_number) {
  const auto overflow = [] {
    for (std::size_t i = 0; i <= kMaxTypedHandlers; ++i)
      Registered{on_first, thunk_of_first, "on_first"};
  };
  EXPECT_DEATH(overflow(), "more than 4096 typed handlers.*VIA-3011");
}

}  // namespace
}  // namespace viaduct::am
