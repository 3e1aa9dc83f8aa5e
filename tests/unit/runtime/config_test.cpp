// Settings from the environment: every type, every mistake, and what the tables say.

#include "viaduct/runtime/config.hpp"

#include <gtest/gtest.h>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "viaduct/runtime/error.hpp"

#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace {

using viaduct::config::Option;
using viaduct::config::Type;

struct Settings {
  std::int64_t count = 0;
  std::int64_t size = 0;
  std::int64_t time = 0;
  bool flag = false;
  std::string word;
  std::string text;
};

constexpr std::array<Option, 6> kOptions{{
    {"count", "VIADUCT_T_COUNT", "auto", "", Type::integer, 0, 100, "", "A count.",
     offsetof(Settings, count)},
    {"size", "VIADUCT_T_SIZE", "4K", "bytes", Type::bytes, 1, std::int64_t{1} << 40, "", "A size.",
     offsetof(Settings, size)},
    {"time", "VIADUCT_T_TIME", "2us", "ns", Type::time_ns, 0, 1'000'000'000, "", "A time.",
     offsetof(Settings, time)},
    {"flag", "VIADUCT_T_FLAG", "0", "", Type::boolean, 0, 1, "", "A flag.",
     offsetof(Settings, flag)},
    {"word", "VIADUCT_T_WORD", "red", "", Type::text, 0, 0, "red|green|light-blue", "A word.",
     offsetof(Settings, word)},
    {"text", "VIADUCT_T_TEXT", "", "", Type::text, 0, 0, "", "A text.", offsetof(Settings, text)},
}};

class Config : public testing::Test {
 protected:
  ~Config() override {
    for (const Option& option : kOptions) ::unsetenv(option.variable);
  }

  static Settings load() {
    Settings settings;
    viaduct::config::load(&settings, kOptions);
    return settings;
  }
  static Settings load(const char* variable, const std::string& value) {
    ::setenv(variable, value.c_str(), 1);
    const Settings settings = load();
    ::unsetenv(variable);
    return settings;
  }
  static std::string refusal(const char* variable, const std::string& value) {
    try {
      load(variable, value);
    } catch (const viaduct::Error& problem) {
      ::unsetenv(variable);
      return problem.what();
    }
    return "accepted";
  }
};

TEST_F(Config, Defaults) {
  const Settings settings = load();
  EXPECT_EQ(settings.count, viaduct::config::kAuto);
  EXPECT_EQ(settings.size, 4096);
  EXPECT_EQ(settings.time, 2000);
  EXPECT_FALSE(settings.flag);
  EXPECT_EQ(settings.word, "red");
  EXPECT_EQ(settings.text, "");
}

TEST_F(Config, Numbers) {
  EXPECT_EQ(load("VIADUCT_T_COUNT", "0").count, 0);
  EXPECT_EQ(load("VIADUCT_T_COUNT", "100").count, 100);
  EXPECT_EQ(load("VIADUCT_T_COUNT", "auto").count, viaduct::config::kAuto);
  EXPECT_EQ(load("VIADUCT_T_SIZE", "1").size, 1);
  EXPECT_EQ(load("VIADUCT_T_SIZE", "3M").size, 3 << 20);
  EXPECT_EQ(load("VIADUCT_T_SIZE", "1T").size, std::int64_t{1} << 40);
  EXPECT_EQ(load("VIADUCT_T_TIME", "7").time, 7);
  EXPECT_EQ(load("VIADUCT_T_TIME", "7ns").time, 7);
  EXPECT_EQ(load("VIADUCT_T_TIME", "7ms").time, 7'000'000);
  EXPECT_EQ(load("VIADUCT_T_TIME", "1s").time, 1'000'000'000);
}

TEST_F(Config, WordsAndFlags) {
  for (const char* yes : {"1", "yes", "on", "true", "TRUE", "On"})
    EXPECT_TRUE(load("VIADUCT_T_FLAG", yes).flag);
  for (const char* no : {"0", "no", "off", "false", "NO"})
    EXPECT_FALSE(load("VIADUCT_T_FLAG", no).flag);
  EXPECT_EQ(load("VIADUCT_T_WORD", "light-blue").word, "light-blue");
  EXPECT_EQ(load("VIADUCT_T_TEXT", "any thing").text, "any thing");
}

TEST_F(Config, BadValuesNameVariableValueAndWhatIsAccepted) {
  EXPECT_EQ(refusal("VIADUCT_T_COUNT", "101"),
            "VIADUCT_T_COUNT=101 is not accepted: give a whole number from 0 to 100, or auto (the "
            "default is auto): Invalid argument [VIA-0103]");
  EXPECT_EQ(refusal("VIADUCT_T_WORD", "blue"),
            "VIADUCT_T_WORD=blue is not accepted: give one of red|green|light-blue (the default is "
            "red): Invalid argument [VIA-0103]");
  EXPECT_NE(refusal("VIADUCT_T_SIZE", "0").find("from 1 to 1T"), std::string::npos);
  EXPECT_NE(refusal("VIADUCT_T_FLAG", "maybe").find("0 or 1 (also no/yes, off/on, false/true)"),
            std::string::npos);
}

TEST_F(Config, EveryKindOfBadValue) {
  for (const char* value : {"", " ", "-1", "1 ", " 1", "+1", "0x10", "1e3", "1.0", "one", "1K",
                            "99999999999999999999", "-99999999999999999999", "Auto"}) {
    EXPECT_NE(refusal("VIADUCT_T_COUNT", value), "accepted") << '"' << value << '"';
  }
  for (const char* value : {"auto", "4k", "4KB", "4 K", "9000000000G", "9999999T", "K", "-1K"}) {
    EXPECT_NE(refusal("VIADUCT_T_SIZE", value), "accepted") << '"' << value << '"';
  }
  for (const char* value : {"1m", "1h", "2s", "1sec", "9223372036854775807s", "ns"}) {
    EXPECT_NE(refusal("VIADUCT_T_TIME", value), "accepted") << '"' << value << '"';
  }
  for (const char* value : {"red|green", "|", "", "RED", "re", "redd"}) {
    EXPECT_NE(refusal("VIADUCT_T_WORD", value), "accepted") << '"' << value << '"';
  }
}

TEST_F(Config, RandomBytesAreAcceptedInRangeOrRefused) {
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string value(random() % 12, ' ');
    for (char& c : value) {
      c = random() % 3 == 0 ? static_cast<char>(1 + random() % 255)
                            : "0123456789KMGTnumsaoxe.-+"[random() % 25];
    }
    ::setenv("VIADUCT_T_SIZE", value.c_str(), 1);
    try {
      const Settings settings = load();
      ASSERT_GE(settings.size, 1) << value;
      ASSERT_LE(settings.size, std::int64_t{1} << 40) << value;
    } catch (const viaduct::Error& problem) {
      ASSERT_NE(std::string(problem.what()).find("VIADUCT_T_SIZE="), std::string::npos);
    }
  }
}

TEST(UnknownVariables, NearestNameIsOffered) {
  ::setenv("VIADUCT_SHM_WINDOWS", "1", 1);
  const std::string text = viaduct::config::unknown_variables();
  ::unsetenv("VIADUCT_SHM_WINDOWS");
  EXPECT_EQ(text,
            "VIADUCT_SHM_WINDOWS is not a variable that Viaduct knows; it is ignored. Did you mean "
            "VIADUCT_SHM_WINDOW?");
}

TEST(UnknownVariables, AFarNameIsNotOffered) {
  for (const char* name : {"VIADUCT_NOSUCH", "VIADUCT_DEBUG", "VIADUCT_X", "VIADUCT_"}) {
    ::setenv(name, "1", 1);
    const std::string text = viaduct::config::unknown_variables();
    ::unsetenv(name);
    EXPECT_EQ(text, std::string(name) + " is not a variable that Viaduct knows; it is ignored.");
  }
  const std::vector<std::pair<const char*, const char*>> slips{
      {"VIADUCT_LOGS", "VIADUCT_LOG"},
      {"VIADUCT_STAT", "VIADUCT_STATS"},
      {"VIADUCT_RENDEZVOUZ", "VIADUCT_RENDEZVOUS"},
      {"VIADUCT_SECRET_FILE", "VIADUCT_JOB_SECRET_FILE"}};
  for (const auto& [slip, meant] : slips) {
    ::setenv(slip, "1", 1);
    const std::string text = viaduct::config::unknown_variables();
    ::unsetenv(slip);
    EXPECT_NE(text.find(std::string("Did you mean ") + meant + "?"), std::string::npos) << text;
  }
}

TEST(UnknownVariables, KnownAndLaunchersOwnAreFine) {
  for (const char* name : {"VIADUCT_LOG", "VIADUCT_RANK", "VIADUCT_JOB_ID", "VIADUCT_PROVIDER"})
    ::setenv(name, "1", 1);
  EXPECT_EQ(viaduct::config::unknown_variables(), "");
  for (const char* name : {"VIADUCT_LOG", "VIADUCT_RANK", "VIADUCT_JOB_ID", "VIADUCT_PROVIDER"})
    ::unsetenv(name);
}

TEST(Help, NamesEveryOptionOfEveryTable) {
  const std::string text = viaduct::config::help();
  for (const auto& table : viaduct::config::all_tables()) {
    for (const Option& option : table.options) {
      EXPECT_NE(text.find(option.variable), std::string::npos) << option.variable;
      EXPECT_NE(text.find(option.help), std::string::npos) << option.variable;
    }
  }
}

TEST(Help, NamesTheProvider) {
  ::setenv("VIADUCT_PROVIDER", "shm", 1);
  const std::string text = viaduct::config::help();
  ::unsetenv("VIADUCT_PROVIDER");
  EXPECT_NE(text.find("VIADUCT_PROVIDER =\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Accepts one of shm|verbs, or verbs:DEVICE."), std::string::npos) << text;
  EXPECT_NE(text.find("Now shm (from the environment)."), std::string::npos) << text;
}

TEST(Help, NamesTheVariablesOfARendezvousAndShowsNoSecret) {
  ::setenv("VIADUCT_JOB_SECRET", "a secret of more than sixteen characters", 1);
  ::setenv("VIADUCT_HOST_KEY", "a key", 1);
  const std::string text = viaduct::config::help();
  ::unsetenv("VIADUCT_JOB_SECRET");
  ::unsetenv("VIADUCT_HOST_KEY");
  for (const char* name : {"VIADUCT_RENDEZVOUS", "VIADUCT_RANK", "VIADUCT_SIZE",
                           "VIADUCT_JOB_SECRET", "VIADUCT_JOB_SECRET_FILE", "VIADUCT_HOST_KEY"})
    EXPECT_NE(text.find(std::string("  ") + name + " =\n"), std::string::npos) << name;
  EXPECT_EQ(text.find("a secret of more"), std::string::npos);
  EXPECT_NE(text.find("Now set (from the environment)."), std::string::npos) << text;
  EXPECT_NE(text.find("Now a key (from the environment)."), std::string::npos) << text;
}

/// Each layer's defaults must pass its own checks: a table that contradicts itself would fail in
/// every program.
TEST(Help, EveryDefaultIsDescribed) {
  for (const auto& table : viaduct::config::all_tables()) {
    for (const Option& option : table.options) {
      EXPECT_FALSE(option.help.empty()) << option.variable;
      EXPECT_EQ(std::string(option.variable).rfind("VIADUCT_", 0), 0U) << option.variable;
      EXPECT_NE(viaduct::config::describe_values(option), "") << option.variable;
    }
  }
}

}  // namespace
