#include "compiler-shim/splitcc/driver/driver.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "compiler-shim/splitcc/driver/gcc_messages.hpp"
#include "compiler-shim/splitcc/driver/own_symbols.hpp"
#include "compiler-shim/splitcc/driver/recognize.hpp"
#include "compiler-shim/splitcc/driver/undefined.hpp"
#include "compiler-shim/splitcc/lex/prelex.hpp"

namespace viaduct::splitcc {
namespace {

namespace fs = std::filesystem;

void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

void write_file(const std::string& name, const std::string& text) {
  std::ofstream out(name, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out)
    throw std::system_error(errno, std::generic_category(), fmt::format("cannot write {}", name));
}

void write_standard_output(const std::string& text) {
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (whole && std::fflush(stdout) == 0) return;
  if (errno == EPIPE && ends_of_broken_pipe()) throw Ended{SIGPIPE};
  throw std::system_error(errno, std::generic_category(), "cannot write standard output");
}

/// Reports what the called program cannot: that a signal has ended it, and the remedy for a file
/// size limit.
void report_signal(const std::vector<std::string>& command, const Outcome& outcome) {
  if (outcome.signal == SIGPIPE) throw Ended{SIGPIPE};
  if (outcome.signal != 0)
    say(fmt::format("splitcc: error: {} was ended by signal {} ({})\n", command[0], outcome.signal,
                    ::strsignal(outcome.signal)));
  if (outcome.signal == SIGXFSZ || outcome.errors.find(::strsignal(SIGXFSZ)) != std::string::npos)
    say("splitcc: note: a file became longer than the file size limit allows: raise it (ulimit "
        "-f)\n");
}

std::string quoted(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

/// What the temporary folder is called after: the first file.
std::string folder_name(const std::vector<Input>& inputs) {
  constexpr std::size_t kMost = 100;  // far less than a file's name may have
  return inputs.empty() ? "none" : fs::path(inputs[0].name).stem().string().substr(0, kMost);
}

// Options for the rules that old programs rely on.
const std::vector<std::string> kOldC = {"-fcommon", "-fwrapv", "-fno-strict-aliasing", "-fno-pie"};

}  // namespace

Driver::Driver(Options options)
    : options_(std::move(options)),
      installation_(find_installation()),
      folder_(folder_name(options_.inputs)),
      color_(options_.color || ::isatty(STDERR_FILENO) == 1) {
  // Programs that SIGKILL ends leave their files behind: these are removed with the folder.
  ::setenv("TMPDIR", folder_.path().c_str(), 1);
}

void Driver::show(const std::vector<std::string>& command) const {
  if (!options_.verbose) return;
  std::string line;
  for (const std::string& word : command) line += " " + word;
  say(line + "\n");
}

int Driver::execute(const std::vector<std::string>& command) {
  show(command);
  const Outcome outcome = run_program(command, Keep::nothing);
  report_signal(command, outcome);
  return outcome.code == 0 ? 0 : 1;
}

// Split-C's headers, and behind all others those of the machines of the time.
std::vector<std::string> Driver::header_options() const {
  return {"-I" + installation_.include, "-idirafter", installation_.include + "/split-c/machines"};
}

std::vector<std::string> Driver::cxx_header_options() const {
  std::vector<std::string> options;
  for (const std::string& folder : installation_.cxx_include) options.push_back("-I" + folder);
  return options;
}

// Automatic variables begin as zero, as they happened to on the machines that the programs were
// written for.
std::vector<std::string> Driver::zero_options() const {
  if (!options_.zero_automatics) return {};
  std::vector<std::string> options = {"-ftrivial-auto-var-init=zero"};
  // clang before version 16 needs this second option.
  if (installation_.c_compiler.find("clang") != std::string::npos)
    options.emplace_back(
        "-enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang");
  return options;
}

// Each access of memory becomes a call of the runtime's checker. The checker finds the source line
// by the place of the call, so that tail calls are forbidden.
std::vector<std::string> Driver::checked_options() const {
  if (!options_.checked) return {};
  return {"-fsanitize=thread", "-fno-optimize-sibling-calls", "-g", "-DVSC_CHECKED=1"};
}

// Libraries of distributions and machines of the time: the runtime has their functions.
bool Driver::is_library_of_the_time(const std::string& name) const {
  if (name.substr(0, 2) != "-l") return false;
  const std::string library = name.substr(2);
  if (library.substr(0, 7) == "split-c" || library.substr(0, 6) == "splitc") return true;
  static constexpr std::array kOld = {"am",    "gam",     "cmam", "cmam_pe", "cmmd", "cmmd_pe",
                                      "cmna",  "cmna_pe", "mpc",  "mpci",    "mpl",  "nx",
                                      "nx_pe", "sma",     "elan", "elan3",   "ew",   "meiko",
                                      "bsd",   "ucb",     "c_s",  "sunmath", "vtd",  "cm"};
  if (std::find(kOld.begin(), kOld.end(), library) == kOld.end()) return false;
  // A library of that name may exist today.
  std::vector<std::string> command = {installation_.cxx_compiler};
  for (const Input& input : options_.inputs)
    if (input.name.substr(0, 2) == "-L") command.push_back(input.name);
  for (const char* const ending : {".so", ".a"}) {
    const std::string file = "lib" + library + ending;
    for (const std::string& folder : command)
      if (folder.substr(0, 2) == "-L" && fs::exists(fs::path(folder.substr(2)) / file))
        return false;
    const Outcome found =
        run_program({command[0], "-print-file-name=" + file}, Keep::output_and_errors);
    if (found.output.find('/') != std::string::npos) return false;
  }
  return true;
}

std::string Driver::output_of(const Input& input, const char* ending) const {
  if (!options_.output.empty()) return options_.output;
  return fs::path(input.name).stem().string() + ending;
}

// Nothing of the user's is overwritten: an output is none of the files that the command reads.
void Driver::refuse_output_over_input() const {
  std::vector<std::string> outputs;
  if (!options_.output.empty())
    outputs.push_back(options_.output);
  else if (options_.stage == Stage::link)
    outputs.emplace_back("a.out");
  else if (options_.stage == Stage::object || options_.stage == Stage::assembly)
    for (const Input& input : options_.inputs)
      if (input.language != Language::object)
        outputs.push_back(output_of(input, options_.stage == Stage::object ? ".o" : ".s"));
  std::error_code none;  // what is not there is not overwritten
  for (const std::string& output : outputs)
    for (const Input& input : options_.inputs)
      if (fs::is_regular_file(output, none) && fs::equivalent(output, input.name, none))
        throw UsageError{fmt::format(
            "{} would be written over {}, which is to be read: give another name with -o", output,
            input.name)};
}

int Driver::run() {
  if (options_.inputs.empty()) {
    if (options_.verbose) {
      say(fmt::format("splitcc: headers in {}\n", installation_.include));
      return 0;
    }
    throw UsageError{"no input files; splitcc --help shows what may be given"};
  }
  std::size_t sources = 0;
  for (const Input& input : options_.inputs)
    sources += input.language != Language::object ? 1U : 0U;
  if (options_.stage != Stage::link && !options_.output.empty() && sources > 1)
    throw UsageError{
        "-o with -c, -S, -E or --emit-c and several files: they would all be written "
        "to the same place"};
  refuse_output_over_input();
  int code = 0;
  for (Input& input : options_.inputs) {
    std::error_code ignored;
    if (input.name[0] != '-' && !fs::exists(input.name, ignored)) {
      say(fmt::format("splitcc: error: {}: no such file\n", input.name));
      code = 1;
      continue;
    }
    if (input.language == Language::object) {
      if (options_.stage != Stage::link && input.name[0] != '-')
        say(fmt::format("splitcc: warning: {}: not linked, so not used\n", input.name));
      continue;
    }
    if (input.language == Language::c && !input.is_told && is_split_c(input.name))
      input.language = Language::split_c;
    std::string object;
    code |= compile(input, object);
    if (options_.stage == Stage::link) input.name = object;
  }
  say(left_out_text(left_out_));
  if (code != 0 || options_.stage != Stage::link) return code;
  return link();
}

void Driver::count_left_out(const Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < left_out_.size(); ++i) left_out_[i] += diagnostics.left_out()[i];
}

// Shows gcc's messages in splitcc's form.
void Driver::say_gcc(const std::string& text) {
  Diagnostics diagnostics;
  diagnostics.set_color(color_);
  if (options_.no_warnings) diagnostics.silence_warnings();
  if (options_.show_idioms || options_.warnings_are_errors) diagnostics.show_idioms();
  say(translate_messages(text, diagnostics));
  count_left_out(diagnostics);
}

int Driver::compile(const Input& input, std::string& object) {
  object = options_.stage == Stage::link ? folder_.file(fs::path(input.name).stem().string() + ".o")
           : options_.stage == Stage::object ? output_of(input, ".o")
                                             : output_of(input, ".s");
  if (input.language == Language::split_c) return split_c(input, object);
  return other(input, object);
}

int Driver::other(const Input& input, const std::string& output) {
  const bool cxx = input.language == Language::cxx;
  std::vector<std::string> command = {cxx ? installation_.cxx_compiler : installation_.c_compiler};
  if (input.language == Language::c) {
    append(command, zero_options());
    append(command, checked_options());
  }
  append(command, options_.cxx);
  append(command, kOldC);
  const bool is_c = input.language == Language::c;
  if (is_c) append(command, {"-fno-diagnostics-show-caret", "-fdiagnostics-color=never"});
  if (cxx || !options_.c_standard.empty())
    command.push_back(cxx ? options_.cxx_standard : options_.c_standard);
  else if (is_c)
    append(command, {"-std=gnu89", "-fgnu89-inline"});
  append(command, header_options());
  if (cxx) append(command, cxx_header_options());
  if (options_.stage == Stage::translate) {
    say(fmt::format("splitcc: warning: {}: --emit-c is for Split-C\n", input.name));
    return 0;
  }
  command.push_back(options_.stage == Stage::preprocess ? "-E"
                    : options_.stage == Stage::assembly ? "-S"
                                                        : "-c");
  if (input.is_told) append(command, {"-x", cxx ? "c++" : "c"});
  command.push_back(input.name);
  if (options_.stage != Stage::preprocess || !options_.output.empty()) {
    command.push_back("-o");
    command.push_back(output);
  }
  return is_c ? execute_c(command) : execute(command);
}

// Shows gcc's messages about plain C in the form of those about Split-C.
int Driver::execute_c(const std::vector<std::string>& command) {
  show(command);
  const Outcome outcome = run_program(command, Keep::errors);
  say_gcc(outcome.errors);
  report_signal(command, outcome);
  return outcome.code == 0 ? 0 : 1;
}

// Headers with raw newlines in strings: corrected copies beside the copy of the file that includes
// them, where they are found first. Answers whether there are any.
bool Driver::join_headers(const Input& input, const std::string& messages,
                          const std::string& beside) {
  std::vector<std::string> folders = {
      fs::path(input.name).parent_path().lexically_normal().string()};
  for (const std::string& option : options_.preprocess)
    if (option.substr(0, 2) == "-I")
      folders.push_back(fs::path(option.substr(2)).lexically_normal().string());
  bool any = false;
  std::istringstream lines(messages);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("missing terminating \" character") == std::string::npos) continue;
    const std::string file = line.substr(0, line.find(':'));
    std::ifstream in(file, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const std::optional<std::string> joined = join_strings(text);
    if (!joined) continue;
    const std::string normal = fs::path(file).lexically_normal().string();
    for (std::string folder : folders) {
      if (!folder.empty() && folder.back() != '/') folder += '/';
      if (folder == "./") folder.clear();
      const std::string rest =
          normal.substr(0, folder.size()) == folder ? normal.substr(folder.size()) : "";
      if (rest.empty() || rest[0] == '/' || rest.substr(0, 2) == "..") continue;
      const fs::path to = fs::path(beside).parent_path() / rest;
      fs::create_directories(to.parent_path());
      write_file(to.string(), fmt::format("# 1 \"{}\"\n", quoted(file)) + *joined);
      copies_[to.string()] = normal;
      any = true;
    }
  }
  return any;
}

// -MD and -MMD write the file that gcc -c would write, for the target that gcc -c would make.
std::vector<std::string> Driver::dependency_options(const Input& input) const {
  const auto given = [this](std::string_view name) {
    return std::find(options_.preprocess.begin(), options_.preprocess.end(), name) !=
           options_.preprocess.end();
  };
  std::vector<std::string> more;
  if (!given("-MD") && !given("-MMD")) return more;
  const std::string object = options_.stage == Stage::object && !options_.output.empty()
                                 ? options_.output
                                 : fs::path(input.name).stem().string() + ".o";
  if (!given("-MF")) append(more, {"-MF", fs::path(object).replace_extension(".d").string()});
  if (!given("-MT") && !given("-MQ")) append(more, {"-MQ", object});
  return more;
}

// Dependencies name the user's files, not copies of them.
void Driver::name_originals(const std::vector<std::string>& command, std::string& text) const {
  const auto replace = [&](std::string& in) {
    for (const auto& [copy, original] : copies_)
      for (std::size_t at = 0; (at = in.find(copy, at)) != std::string::npos; at += original.size())
        in.replace(at, copy.size(), original);
  };
  if (copies_.empty()) return;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] == "-M" || command[i] == "-MM") replace(text);
    if (command[i] != "-MF" || i + 1 == command.size()) continue;
    std::ifstream in(command[i + 1], std::ios::binary);
    std::string rules((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (!in.is_open()) continue;
    replace(rules);
    write_file(command[i + 1], rules);
  }
}

// gcc -E, after raw newlines in strings have been joined to their lines.
int Driver::preprocess(const Input& input, std::string& text) {
  std::ifstream in(input.name, std::ios::binary);
  const std::string source((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad() || !in.is_open())
    throw std::system_error(errno, std::generic_category(),
                            fmt::format("cannot read {}", input.name));
  std::vector<std::string> command = {
      installation_.c_compiler,    "-E",           "-x",           "c",
      "-std=" + options_.standard, "-D__SPLITC__", "-D__splitc__", "-fno-diagnostics-show-caret"};
  append(command, options_.preprocess);
  append(command, dependency_options(input));
  copies_.clear();
  const fs::path place = fs::path(input.name).parent_path();
  std::string name = input.name;
  const auto run = [&] {
    std::vector<std::string> whole = command;
    if (name != input.name) append(whole, {"-iquote", place.empty() ? "." : place.string()});
    append(whole, header_options());
    whole.push_back(name);
    show(whole);
    return run_program(whole, Keep::output_and_errors);
  };
  const std::optional<std::string> joined = join_strings(source);
  const auto copy = [&] {
    name = folder_.file(fs::path(input.name).filename().string());
    copies_[name] = input.name;
    write_file(name, fmt::format("# 1 \"{}\"\n", quoted(input.name)) + joined.value_or(source));
  };
  if (joined || !fs::is_regular_file(name)) copy();  // a pipe can be read only once
  Outcome outcome = run();
  if (outcome.errors.find("missing terminating \" character") != std::string::npos) {
    if (name == input.name) copy();
    if (join_headers(input, outcome.errors, name)) outcome = run();
  }
  say_gcc(outcome.errors);
  report_signal(command, outcome);
  text = std::move(outcome.output);
  if (outcome.code == 0) name_originals(command, text);
  return outcome.code == 0 ? 0 : 1;
}

int Driver::split_c(const Input& input, const std::string& output) {
  std::string text;
  if (const int code = preprocess(input, text); code != 0) return code;
  const auto finish = [this](const std::string& result) {
    if (options_.output.empty() || options_.output == "-")
      write_standard_output(result);
    else
      write_file(options_.output, result);
    return 0;
  };
  if (options_.stage == Stage::preprocess) return finish(text);
  Diagnostics diagnostics;
  diagnostics.set_color(color_);
  if (options_.no_warnings) diagnostics.silence_warnings();
  if (options_.warnings_are_errors) diagnostics.make_warnings_errors();
  if (options_.show_idioms) diagnostics.show_idioms();
  if (options_.show_remote_loops) diagnostics.show_remote_loops();
  for (const Warning w : options_.disabled) diagnostics.disable(w);
  const Translation translation =
      translate(text, diagnostics, options_.sequential, options_.dialect(), options_.short_enums);
  say(diagnostics.take());
  count_left_out(diagnostics);
  if (!translation.ok) return 1;
  if (options_.stage == Stage::translate) return finish(translation.c);
  return compile_c(input, translation, output);
}

int Driver::compile_c(const Input& input, const Translation& translation,
                      const std::string& output) {
  const std::string file = folder_.file(fs::path(input.name).stem().string() + ".c");
  write_file(file, translation.c + translation.uses);
  std::vector<std::string> command = {installation_.c_compiler, "-std=" + options_.standard};
  append(command, kOldC);
  append(command, zero_options());
  command.emplace_back("-fgnu89-inline");  // also with -std=gnu99
  append(command, own_function_options(translation.defined));
  append(command, checked_options());
  append(command, options_.compile);
  command.push_back("-fno-diagnostics-show-caret");
  command.push_back("-fdiagnostics-color=never");
  command.push_back("-fdebug-prefix-map=" + folder_.path() + "=.");
  append(command, {"-isystem", installation_.include});  // gcc does not warn about system headers
  command.push_back(options_.stage == Stage::assembly ? "-S" : "-c");
  command.push_back(file);
  command.push_back("-o");
  command.push_back(output);
  return execute_c(command);
}

// The program's own functions named as those of the C library get other names in copies of its
// objects, so that the runtime calls the C library's.
void Driver::rename_own_symbols() {
  const auto is_object = [](const Input& input) {
    const std::string end = fs::path(input.name).extension().string();
    return input.name[0] != '-' && (end == ".o" || end == ".a");
  };
  std::vector<std::string> files;
  for (const Input& input : options_.inputs)
    if (is_object(input)) files.push_back(input.name);
  if (files.empty()) return;
  const std::vector<std::string> names = names_of_the_c_library(files);
  if (names.empty()) return;
  std::vector<std::string> command = {"objcopy"};
  for (const std::string& name : names)
    append(command, {"--redefine-sym", fmt::format("{0}=vsc_program_{0}", name)});
  for (Input& input : options_.inputs) {
    if (!is_object(input)) continue;
    const std::string copy = folder_.file("renamed" + fs::path(input.name).filename().string());
    std::vector<std::string> whole = command;
    append(whole, {input.name, copy});
    if (execute(whole) == 0) input.name = copy;
  }
}

int Driver::link() {
  rename_own_symbols();
  std::vector<std::string> command = {installation_.cxx_compiler, "-no-pie"};
  append(command, options_.link);
  for (const Input& input : options_.inputs)
    if (!is_library_of_the_time(input.name)) command.push_back(input.name);
  if (options_.checked) command.emplace_back("-Wl,-u,__tsan_init");
  append(command, installation_.link);
  command.push_back("-o");
  command.push_back(options_.output.empty() ? "a.out" : options_.output);
  show(command);
  const Outcome outcome = run_program(command, Keep::errors);
  say(explain_undefined(outcome.errors, command, color_));
  report_signal(command, outcome);
  if (outcome.errors.find("undefined reference to `splitc_main'") != std::string::npos)
    say("splitcc: error: a Split-C program begins with splitc_main(argc, argv), which none of the "
        "files defines\n");
  return outcome.code == 0 ? 0 : 1;
}

}  // namespace viaduct::splitcc
