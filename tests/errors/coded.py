#!/usr/bin/env python3
"""coded.py ROOT: each text that ends a program has a code of the error catalogue, and each code has a text.

Looks at the sources of the product under ROOT for what throws viaduct::Error, stops the program or ends the job: the code
must be its first argument (in the launcher's fail() the second).  Other exceptions and std::abort() have no code and are
not allowed.
"""
import os
import re
import sys

FOLDERS = ["runtime", "via", "am", "splitc", "compiler-shim/runtime", "tools"]
# The functions themselves; JSON of this project's own programs.
EXEMPT = {"runtime/include/viaduct/runtime/error.hpp", "runtime/src/error.cpp", "runtime/program/json.cpp", "runtime/program/command_line.cpp",
          "splitc/detail/machine.hpp"}
CODE = r"\s*(?:viaduct::)?(?:errors::(\w+)|id\b|\w+\.id\(\)|\w+\.id\b)"
ENDS = re.compile(r"\b(throw (?:viaduct::)?Error|throw_errno|violate_contract)\(")
STOPS = re.compile(r"(?<![\w.>])(?:detail::)?stop\(")
FAILS = re.compile(r"(?<![\w.>:])fail\(kExit[^,]*,")
CODELESS = re.compile(r"\bthrow std::(?!bad_alloc)\w+|\b(?:std::)?abort\(\)|\bstd::terminate\(\)")
ENTRY = re.compile(r"VIADUCT_ERROR\(\s*\d+,\s*(\w+),")


def sources(root):
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if name.endswith((".cpp", ".hpp")):
                    yield os.path.relpath(os.path.join(path, name), root)


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def entries(root):
    folder = os.path.join(root, "runtime/errors")
    found = set()
    for name in os.listdir(folder):
        if name.endswith(".def"):
            with open(os.path.join(folder, name), encoding="utf-8") as text:
                found |= set(ENTRY.findall(text.read()))
    return found


def main():
    root = sys.argv[1]
    failures, used, places = [], set(), 0
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = without_comments(file.read())
        used |= set(re.findall(r"\berrors::(\w+)", text))
        if path in EXEMPT:
            continue
        patterns = [ENDS, FAILS] + ([STOPS] if path.startswith("splitc/src/") else [])
        for match in (m for pattern in patterns for m in pattern.finditer(text)):
            if re.match(r"(?:ErrorCode|const)\b", text[match.end():]):
                continue  # a declaration
            places += 1
            if not re.match(CODE, text[match.end():]):
                line = text.count("\n", 0, match.start()) + 1
                failures.append(f"{path}:{line}: '{match[0]}' has no code (errors::NAME of runtime/errors/)")
        for match in CODELESS.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            failures.append(f"{path}:{line}: '{match[0]}' says no code: throw viaduct::Error, or violate_contract()")
    known = entries(root)
    for name in sorted(known - used):
        failures.append(f"runtime/errors/: no text has the code of {name}")
    for failure in failures:
        print(failure)
    print(f"{places} places, {len(known)} codes")
    return 1 if failures or places == 0 or not known else 0


if __name__ == "__main__":
    sys.exit(main())
