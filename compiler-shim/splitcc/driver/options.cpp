#include "compiler-shim/splitcc/driver/options.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <string_view>

namespace viaduct::splitcc {
namespace {

bool begins_with(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

Language language_of(const std::string& name) {
  const std::size_t dot = name.find_last_of("./");
  if (dot == std::string::npos || name[dot] != '.') return Language::object;
  const std::string_view end = std::string_view(name).substr(dot);
  if (end == ".sc") return Language::split_c;
  if (end == ".c") return Language::c;
  if (end == ".C" || end == ".cc" || end == ".cpp" || end == ".cxx" || end == ".c++")
    return Language::cxx;
  if (end == ".s" || end == ".S" || end == ".i" || end == ".ii") return Language::other;
  return Language::object;
}

constexpr std::array kNamedWarnings = {Warning::discarded_qualifiers, Warning::get_before_sync,
                                       Warning::pointer_order, Warning::remote_loop,
                                       Warning::remote_pointer};

class Reader {
 public:
  explicit Reader(const std::vector<std::string>& args) : args_(args) {}

  Options run() {
    for (at_ = 0; at_ < args_.size(); ++at_) one(args_[at_]);
    return std::move(o_);
  }

 private:
  // The value of an option, joined to it or in the next word.
  std::string value(const std::string& arg, std::size_t length) {
    if (arg.size() > length) return arg.substr(length);
    if (++at_ >= args_.size()) throw UsageError{fmt::format("{} needs a value behind it", arg)};
    return args_[at_];
  }

  void both(const std::string& a) {
    o_.preprocess.push_back(a);
    o_.cxx.push_back(a);
  }
  void compile(const std::string& a) {
    o_.compile.push_back(a);
    o_.cxx.push_back(a);
  }

  void one(const std::string& arg) {
    if (arg.size() < 2 || arg[0] != '-') return input(arg);
    if (simple(arg) || with_value(arg) || by_prefix(arg)) return;
    throw UsageError{fmt::format("{} is no option of splitcc; splitcc --help lists them", arg)};
  }

  void input(const std::string& name) {
    if (name == "-") {
      if (!forced_ && o_.stage != Stage::preprocess)
        throw UsageError{"standard input needs -x LANGUAGE or -E before it"};
      // Some containers have no /dev/stdin; /proc/self/fd is the kernel's.
      const char* const stream = access("/dev/stdin", F_OK) == 0 ? "/dev/stdin" : "/proc/self/fd/0";
      o_.inputs.push_back({stream, forced_ ? language_ : Language::split_c, true});
      both("-iquote.");  // the stream's own folder is not the one that its #include "file" means
      return;
    }
    o_.inputs.push_back({name, forced_ ? language_ : language_of(name), forced_});
  }

  bool simple(const std::string& arg) {
    if (arg == "-c") return stage(Stage::object);
    if (arg == "-S") return stage(Stage::assembly);
    if (arg == "-E") return stage(Stage::preprocess);
    if (arg == "--emit-c" || arg == "-emit-c") return stage(Stage::translate);
    if (arg == "-v" || arg == "--verbose") return o_.verbose = true;
    if (arg == "--help") return o_.help = true;
    if (arg == "--version") return o_.version = true;
    if (arg == "--print-makefile") return o_.print_makefile = true;
    if (arg == "-fsplitc-sc") return o_.sequential = true;
    if (arg == "--checked") return o_.checked = true;
    if (arg == "-fzero-automatics" || arg == "-fno-zero-automatics") {
      o_.zero_automatics = arg == "-fzero-automatics";
      return true;
    }
    if (arg == "-Wold-idioms" || arg == "-Wno-old-idioms") {
      o_.show_idioms = arg == "-Wold-idioms";
      return true;
    }
    if (arg == "-w") {
      compile(arg);
      return o_.no_warnings = true;
    }
    if (arg == "-Werror") {
      compile(arg);
      return o_.warnings_are_errors = true;
    }
    if (arg == "-ansi") {
      o_.standard = "gnu89";
      o_.c_standard = arg;
      return true;
    }
    static constexpr std::array kLink = {"-static-libgcc", "-static-libstdc++", "-s", "-rdynamic"};
    if (std::find(kLink.begin(), kLink.end(), arg) != kLink.end()) {
      o_.link.push_back(arg);
      return true;
    }
    return is_of_the_time(arg);
  }

  /// Options of compilers and machines of the time, without a meaning here. The processors are
  /// those that gcc 2 knew.
  static bool is_of_the_time(std::string_view arg) {
    static constexpr std::string_view kIgnored =
        " -pipe -traditional -no-pie -fno-pie -fno-pic -fPIE -fpie -pie -Wtraditional "
        "-traditional-cpp -fvolatile -fvolatile-global -fforce-mem -fforce-addr "
        "-fdelayed-branch -fshared-data -fwritable-strings -m386 -m486 -mno-486 "
        "-mpentium -mv8 -msparclite -msupersparc -mcypress -mepilogue -mno-epilogue "
        "-mflat -mhard-quad-float -munaligned-doubles -mfpu -mpower -mpower2 -mpowerpc "
        "-mno-power -mno-powerpc -mnew-mnemonics -mxl-call -mieee -mfp-regs "
        "-mnoieee-precision -gstabs ";
    static constexpr std::array<std::string_view, 8> kProcessors = {
        "-mcpu=supersparc", "-mcpu=cypress", "-mcpu=v8",    "-mcpu=rs6000",
        "-mcpu=power",      "-mcpu=ev",      "-mtune=i486", "-mtune=i386"};
    return kIgnored.find(" " + std::string(arg) + " ") != std::string_view::npos ||
           std::any_of(kProcessors.begin(), kProcessors.end(),
                       [arg](std::string_view p) { return arg.substr(0, p.size()) == p; });
  }

  bool stage(Stage which) {
    o_.stage = which;
    return true;
  }

  bool with_value(const std::string& arg) {
    if (begins_with(arg, "-o")) {
      if (!o_.output.empty()) throw UsageError{"-o stands twice"};
      o_.output = value(arg, 2);
      return true;
    }
    for (const char* name : {"-I", "-D", "-U"}) {
      if (!begins_with(arg, name)) continue;
      both(name + value(arg, 2));
      return true;
    }
    for (const char* name :
         {"-include", "-isystem", "-iquote", "-idirafter", "-imacros", "-MF", "-MT", "-MQ"}) {
      if (arg != name) continue;
      both(arg);
      both(value(arg, arg.size()));
      return true;
    }
    if (arg == "-x") {
      language(value(arg, 2));
      return true;
    }
    if (begins_with(arg, "-l") || begins_with(arg, "-L")) {
      const std::string v = value(arg, 2);
      o_.inputs.push_back({arg.substr(0, 2) + v, Language::object, false});
      return true;
    }
    if (arg == "-Xlinker") {
      o_.link.push_back(arg);
      o_.link.push_back(value(arg, arg.size()));
      return true;
    }
    return false;
  }

  // Split-C is C89 with GNU's extensions; a program may ask for a later standard's keywords.
  static const char* standard_below_split_c(std::string_view name) {
    struct Entry {
      const char* below;
      std::string_view names;
    };
    static constexpr std::array kStandards = {
        Entry{"gnu89", " c89 c90 gnu89 gnu90 iso9899:1990 iso9899:199409 "},
        Entry{"gnu99", " c99 c9x gnu99 gnu9x iso9899:1999 "},
        Entry{"gnu11", " c11 c1x gnu11 gnu1x iso9899:2011 c17 c18 gnu17 gnu18 "}};
    for (const Entry& each : kStandards)
      if (each.names.find(fmt::format(" {} ", name)) != std::string_view::npos) return each.below;
    throw UsageError{fmt::format(
        "-std={}: the standards are gnu89, gnu99 and gnu11 (also as c89, c99 and c11) for Split-C "
        "and C, and those that g++ knows for C++, such as gnu++20",
        name)};
  }

  void language(const std::string& name) {
    forced_ = name != "none";
    if (name == "splitc" || name == "split-c")
      language_ = Language::split_c;
    else if (name == "c")
      language_ = Language::c;
    else if (name == "c++")
      language_ = Language::cxx;
    else if (forced_)
      throw UsageError{fmt::format("-x {}: the languages are splitc, c, c++ and none", name)};
  }

  bool by_prefix(const std::string& arg) {
    if (begins_with(arg, "-std=")) {
      const std::string name = arg.substr(5);
      if (begins_with(name, "c++") || begins_with(name, "gnu++")) {
        o_.cxx_standard = arg;
        return true;
      }
      o_.c_standard = arg;
      o_.standard = standard_below_split_c(name);
      return true;
    }
    if (arg == "-static" || arg == "-static-pie")
      throw UsageError{fmt::format("{}: programs of splitcc are linked dynamically", arg)};
    if (arg == "-shared")
      throw UsageError{
          "-shared: splitcc links programs only: put Split-C into an archive (splitcc -c, then "
          "ar), and make a shared library of C or C++ with gcc or g++"};
    if (begins_with(arg, "-Wl,") || begins_with(arg, "-static-lib") || arg == "-shared-libgcc") {
      o_.link.push_back(arg);
      return true;
    }
    if (begins_with(arg, "-Wp,")) {
      both(arg);
      return true;
    }
    if (begins_with(arg, "-Wno-"))
      for (const Warning w : kNamedWarnings)
        if (arg.substr(5) == warning_name(w)) {
          o_.disabled.push_back(w);
          if (w == Warning::discarded_qualifiers) compile(arg);
          return true;
        }
    for (const Warning w : kNamedWarnings)
      if (arg == std::string("-W") + warning_name(w)) {
        o_.show_remote_loops = o_.show_remote_loops || w == Warning::remote_loop;
        return true;
      }
    if (begins_with(arg, "-M")) {
      both(arg);
      if (arg == "-M" || arg == "-MM") stage(Stage::preprocess);
      return true;
    }
    if (begins_with(arg, "-O")) {
      o_.preprocess.push_back(arg);
      compile(arg);
      o_.link.push_back(arg);
      return true;
    }
    if (begins_with(arg, "-fdiagnostics-color")) {
      o_.color = arg == "-fdiagnostics-color" || arg == "-fdiagnostics-color=always";
      return true;
    }
    if (arg == "-fshort-enums" || arg == "-fno-short-enums")
      o_.short_enums = arg == "-fshort-enums";
    if (begins_with(arg, "-g") || begins_with(arg, "-f") || begins_with(arg, "-m") || arg == "-p" ||
        arg == "-pg" || arg == "-pthread") {
      compile(arg);
      o_.link.push_back(arg);
      if (begins_with(arg, "-m") || begins_with(arg, "-fsanitize")) o_.preprocess.push_back(arg);
      return true;
    }
    // The C that splitcc makes is GNU C: with -pedantic gcc would warn about that C and not about
    // the user's source.
    if (begins_with(arg, "-pedantic") || begins_with(arg, "-Wpedantic")) {
      o_.cxx.push_back(arg);
      return true;
    }
    if (begins_with(arg, "-W")) {
      compile(arg);
      return true;
    }
    return false;
  }

  const std::vector<std::string>& args_;
  std::size_t at_ = 0;
  Options o_;
  bool forced_ = false;
  Language language_ = Language::split_c;
};

}  // namespace

Options parse_options(const std::vector<std::string>& args) { return Reader(args).run(); }

std::string help_text() {
  return R"(usage: splitcc [OPTION]... FILE...

Compiles Split-C and links it with the Viaduct runtime. The program is started by viaduct-run.

FILE is Split-C (.sc), C (.c), C++ (.C .cc .cpp .cxx), assembly (.s .S), an object or a library.
A .c file that includes a header of split-c/ and has constructs of the language is Split-C, too.

  -c              compile, do not link
  -S              stop at assembly
  -E              stop after preprocessing
  --emit-c        stop at the C that Split-C becomes
  -o FILE         write to FILE
  -g -O...        debug information, optimization, as for gcc
  -I -D -U -include ...   for the preprocessor
  -l -L -Wl,...   for the linker
  -W... -w -Werror        warnings, as for gcc, and three of Split-C, which are on:
                  -Wno-get-before-sync, -Wno-pointer-order and -Wno-remote-pointer
                  turn them off
  -Wold-idioms    shows the warnings that are only counted: usages of the 1990s that are right
  -Wremote-loop   shows those of loops that wait for each element of another process;
                  -Wno-remote-loop does not count them either
  -std=...        gnu89 (the default), gnu99 or gnu11 below Split-C, and for C;
                  gnu++20 (the default) and the like for C++
  -f... -m...     as for gcc
  -fno-zero-automatics   automatic variables of Split-C and C do not begin as zero
  --checked       the program looks for races while it runs, and names the lines of each;
                  give it for all files and for the link
  -fsplitc-sc     sequential consistency: a fence after each blocking write
  -x LANGUAGE     splitc, c, c++ or none, for the files that follow
  --print-makefile   where Make.split-c is, which makefiles include
  -v              show what is run
  --help, --version
)";
}

}  // namespace viaduct::splitcc
