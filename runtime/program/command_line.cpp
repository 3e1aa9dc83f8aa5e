#include "runtime/program/command_line.hpp"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::program {
namespace {

/// The usage line, which --help prints first.
class UsageLine : public CLI::Formatter {
 public:
  explicit UsageLine(std::string line) : line_(std::move(line)) {}
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return line_ + "\n";
  }

 private:
  std::string line_;
};

std::string out_of_range(const std::string& text, const std::string& range) {
  return "Value " + text + " not in range " + range;
}

template <class T>
CLI::Validator whole_numbers(std::int64_t least, std::int64_t most) {
  const std::string range = std::to_string(least) + " - " + std::to_string(most);
  const auto check = [=](const std::string& text) {
    T value{};
    const bool in_range = CLI::detail::lexical_cast(text, value) &&
                          value >= static_cast<T>(least) && value <= static_cast<T>(most);
    return in_range ? std::string{} : out_of_range(text, range);
  };
  return CLI::Validator(check, "[" + range + "]");
}

/// CLI11 reads "010" as octal and "0x10" as hexadecimal. @p text loses its leading zeros, and may
/// end in a unit.  @return a complaint, or nothing.
std::string read_as_decimal(std::string& text) {
  const std::size_t begin = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const auto digit_at = [&](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
  };
  std::size_t zeros = 0;
  while (text.substr(begin + zeros, 1) == "0" && digit_at(begin + zeros + 1)) ++zeros;
  text.erase(begin, zeros);
  const std::string_view number = std::string_view(text).substr(begin);
  if (number.starts_with("0x") || number.starts_with("0X"))
    return "Value " + text + " is not accepted: numbers are decimal";
  return {};
}

/// One field of a line of the option table: no tab, no end of line.
std::string field(std::string text) {
  for (char& c : text)
    if (c == '\t' || c == '\n') c = ' ';
  return "\t" + text;
}

/// The option table, a line for each option and command that --help lists; man pages and completion
/// are made from it (tools/manual/programs.py).
std::string option_table(const CLI::App& app, const std::string& command) {
  std::string table;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    const bool takes_value = option->get_items_expected_max() != 0;
    table += "option" + field(command) + field(option->get_name(false, true)) +
             field(takes_value ? option->get_type_name() : "") + field(option->get_default_str()) +
             field(option->get_description()) + "\n";
  }
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    table += "command" + field(sub->get_name()) + field(sub->get_description()) + "\n";
    table += option_table(*sub, sub->get_name());
  }
  return table;
}

}  // namespace

namespace {

/// Of a program with commands: that the first word is none of them. Else empty.
std::string complaint_about_surplus(const CLI::App& app) {
  const std::vector<std::string> surplus = app.remaining();
  std::string commands;
  for (const CLI::App* sub : app.get_subcommands(nullptr))
    commands += (commands.empty() ? "" : ", ") + sub->get_name();
  if (surplus.empty() || surplus.front().starts_with('-') || commands.empty()) return {};
  return surplus.front() + " is no command; there are " + commands;
}

}  // namespace

struct CommandLine::Entry {
  CLI::Option* option;
  bool is_unsigned = false;
  std::string range = {};                                       // of whole numbers
  std::string (*complaint)(const std::string& text) = nullptr;  // in place of the range's

  CLI::Validator reads_integers() const;
};

/// CLI11 reads a number beyond the largest as the largest, and a negative one into an unsigned
/// variable as a very large one: both are refused before.
CLI::Validator CommandLine::Entry::reads_integers() const {
  return {[this](std::string& text) {
            if (std::string wrong = read_as_decimal(text); !wrong.empty()) return wrong;
            std::uint64_t number = 0;
            const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
            const bool fits = read.ec != std::errc::result_out_of_range &&
                              !(is_unsigned && text.starts_with('-'));
            if (fits) return std::string{};
            return complaint != nullptr ? complaint(text) : out_of_range(text, range);
          },
          ""};
}

struct CommandLine::Impl {
  CLI::App* app = nullptr;  // own or of the command line that this is a command of
  std::unique_ptr<CLI::App> own;
  std::deque<Entry> entries;
  std::deque<std::unique_ptr<CommandLine>> commands;
  std::string text;
};

CommandLine::Option CommandLine::Option::within(std::int64_t least, std::int64_t most) const {
  entry_->range = std::to_string(least) + " - " + std::to_string(most);
  entry_->option->check(entry_->is_unsigned ? whole_numbers<std::uint64_t>(least, most)
                                            : whole_numbers<std::int64_t>(least, most));
  return *this;
}

CommandLine::Option CommandLine::Option::within_reals(double least, double most) const {
  std::ostringstream range;
  range << least << " - " << most;
  const auto check = [least, most, range = range.str()](const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool in_range = !text.empty() && *end == '\0' && value >= least && value <= most;
    return in_range ? std::string{} : out_of_range(text, range);
  };
  entry_->option->check(CLI::Validator(check, "[" + range.str() + "]"));
  return *this;
}

CommandLine::Option CommandLine::Option::one_of(const std::vector<std::string>& words) const {
  entry_->option->check(CLI::IsMember(words));
  return *this;
}

CommandLine::Option CommandLine::Option::check(std::string (*complaint)(const std::string& text),
                                               const char* type_name) const {
  entry_->complaint = complaint;
  entry_->option->check(CLI::Validator(complaint, ""))->type_name(type_name);
  return *this;
}

CommandLine::Option CommandLine::Option::required() const {
  entry_->option->required();
  return *this;
}

CommandLine::Option CommandLine::Option::needs(Option other) const {
  entry_->option->needs(other.entry_->option);
  return *this;
}

CommandLine::Option CommandLine::Option::excludes(Option other) const {
  entry_->option->excludes(other.entry_->option);
  return *this;
}

CommandLine::Option CommandLine::Option::separated_by(char separator) const {
  entry_->option->delimiter(separator);
  return *this;
}

CommandLine::Option CommandLine::Option::one_at_a_time() const {
  entry_->option->allow_extra_args(false);
  return *this;
}

CommandLine::Option CommandLine::Option::with_size_units() const {
  entry_->option->transform(CLI::AsSizeValue(false));
  entry_->option->transform(entry_->reads_integers());  // runs before
  return *this;
}

CommandLine::Option CommandLine::Option::shows_default() const {
  entry_->option->capture_default_str();
  return *this;
}

CommandLine::Option CommandLine::Option::shows_default(const char* text) const {
  entry_->option->default_str(text);
  return *this;
}

CommandLine::Option CommandLine::Option::default_value(const char* value) const {
  entry_->option->default_val(value);
  return *this;
}

CommandLine::Option CommandLine::Option::hidden() const {
  entry_->option->group("");
  return *this;
}

CommandLine::CommandLine(const std::string& description, const std::string& name)
    : impl_(std::make_unique<Impl>()) {
  impl_->own = std::make_unique<CLI::App>(description, name);
  impl_->app = impl_->own.get();
  impl_->app->require_subcommand(0, 1);
  const auto list = [this] {
    impl_->text = "program" + field(impl_->app->get_name()) + field(impl_->app->get_description()) +
                  field(impl_->app->get_footer()) + "\n" + option_table(*impl_->app, "");
    throw CLI::Success();
  };
  impl_->app->add_flag_callback("--list-options", list, "Print the option table")->group("");
}

CommandLine::CommandLine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

CommandLine::~CommandLine() = default;

template <class T>
CommandLine::Option CommandLine::declare(const char* names, T& variable, const char* help) {
  CLI::Option* const option = impl_->app->add_option(names, variable, help);
  using Number =
      std::conditional_t<std::is_same_v<T, std::vector<std::uint32_t>>, std::uint32_t, T>;
  Entry& entry = impl_->entries.emplace_back(Entry{option, std::is_unsigned_v<Number>});
  if constexpr (std::is_integral_v<Number>) {
    using Limits = std::numeric_limits<Number>;
    entry.range = std::to_string(Limits::min()) + " - " + std::to_string(Limits::max());
    option->transform(entry.reads_integers());
  }
  if (std::is_floating_point_v<T>) option->transform(CLI::Validator(read_as_decimal, ""));
  return Option(entry);
}

CommandLine::Option CommandLine::option(const char* names, int& variable, const char* help) {
  return declare(names, variable, help);
}
CommandLine::Option CommandLine::option(const char* names, std::uint32_t& variable,
                                        const char* help) {
  return declare(names, variable, help);
}
CommandLine::Option CommandLine::option(const char* names, std::uint64_t& variable,
                                        const char* help) {
  return declare(names, variable, help);
}
CommandLine::Option CommandLine::option(const char* names, double& variable, const char* help) {
  return declare(names, variable, help);
}
CommandLine::Option CommandLine::option(const char* names, std::string& variable,
                                        const char* help) {
  return declare(names, variable, help);
}
CommandLine::Option CommandLine::option(const char* names, std::vector<std::uint32_t>& variable,
                                        const char* help) {
  return declare(names, variable, help);
}
CommandLine::Option CommandLine::option(const char* names, std::vector<std::string>& variable,
                                        const char* help) {
  return declare(names, variable, help);
}

CommandLine::Option CommandLine::flag(const char* names, bool& variable, const char* help) {
  CLI::Option* const option = impl_->app->add_flag(names, variable, help);
  option->disable_flag_override();  // no --name=value
  return Option(impl_->entries.emplace_back(Entry{option, false}));
}

void CommandLine::question(const char* names, const char* help, std::string (*answer)()) {
  const auto end = [this, answer] {
    impl_->text = answer();
    throw CLI::Success();
  };
  impl_->app->add_flag_callback(names, end, help);
}

CommandLine& CommandLine::command(const char* name, const char* description) {
  auto impl = std::make_unique<Impl>();
  impl->app = impl_->app->add_subcommand(name, description);
  impl_->commands.emplace_back(new CommandLine(std::move(impl)));
  return *impl_->commands.back();
}

void CommandLine::show_defaults() { impl_->app->option_defaults()->always_capture_default(); }

void CommandLine::set_usage(const char* line) {
  impl_->app->formatter(std::make_shared<UsageLine>(line));
}

void CommandLine::set_footer(const char* text) { impl_->app->footer(text); }

void CommandLine::stop_at_first_argument() { impl_->app->prefix_command(); }

CommandLine::Parsed CommandLine::parse(int argc, char** argv) {
  impl_->text.clear();
  try {
    impl_->app->parse(argc, argv);
    return Parsed::go_on;
  } catch (const CLI::CallForHelp&) {
    impl_->text = impl_->app->help();
    return Parsed::answered;
  } catch (const CLI::Success&) {  // text is there
    return Parsed::answered;
  } catch (const CLI::ExtrasError& problem) {
    impl_->text = complaint_about_surplus(*impl_->app);
    if (impl_->text.empty()) impl_->text = problem.what();
    return Parsed::refused;
  } catch (const CLI::ParseError& problem) {
    impl_->text = problem.what();
    return Parsed::refused;
  }
}

const std::string& CommandLine::text() const noexcept { return impl_->text; }

void write_out(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size() || std::fflush(stdout) != 0 ||
      std::ferror(stdout) != 0)
    throw Error(errors::system_refused, errno != 0 ? errno : EIO,
                "cannot write to standard output");
}

bool CommandLine::print_answer() const {
  if (std::fputs(text().c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return true;
  std::perror((name() + ": standard output").c_str());
  return false;
}

bool CommandLine::read(int argc, char** argv, int& exit_code, bool speaks) {
  const Parsed parsed = parse(argc, argv);
  exit_code = parsed == Parsed::refused ? kBadCommandLine : 0;
  if (parsed != Parsed::go_on && speaks) {
    if (parsed == Parsed::answered) {
      if (!print_answer()) exit_code = 1;
    } else {
      std::fprintf(stderr, "%s: %s; see %s --help\n", name().c_str(), text().c_str(),
                   name().c_str());
    }
  }
  return parsed == Parsed::go_on;
}

/// Without App::count(): that looks for the option in a function that allocates and is noexcept.
bool CommandLine::given(const char* name) const {
  const CLI::App& app = *impl_->app;
  for (const CLI::Option* option : app.get_options())
    if (option->check_name(name)) return option->count() != 0;
  throw std::logic_error(std::string("no option ") + name + " was declared");
}

bool CommandLine::chosen() const { return impl_->app->parsed(); }

std::vector<std::string> CommandLine::remaining() const { return impl_->app->remaining(); }

const std::string& CommandLine::name() const { return impl_->app->get_name(); }

}  // namespace viaduct::program
