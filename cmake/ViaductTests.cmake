# Test helpers.
#
#   viaduct_add_test(NAME n SOURCES s... LABELS l... TIMEOUT seconds [APART] [UNCHECKED]
#                    [RANKS 1 2 4 7] [MODES processes threads] [PRODUCT r7 t2...] [LIBRARIES t...] [ARGS a...])
#     Without RANKS: a program of its own; when its sources use GoogleTest, every case is a test "n.Suite.Case", except in
#     programs whose only label is `unit`: such a program is one test, but with APART (a case changes what the process has
#     once) and under sanitizers (the first report ends the process, and the cases behind it would not run).
#     With RANKS: one test per count, run by viaduct-run: n_r2, n_r4, ... (processes, the default mode)
#     and n_t2, n_t4, ... (threads; these also get the label `threads`). Those that PRODUCT names run in preset `long`.
#
#   viaduct_add_program(name [UNCHECKED] SOURCES s... [LIBRARIES t...])
#     A helper program in <build>/tests/bin that tests start themselves. UNCHECKED: never in checked mode
#     (docs/checked.md), for tests of what that mode changes: where blocks lie, what a wrong access answers without it.
#
#   viaduct_add_script_test(NAME n LABELS l... TIMEOUT seconds COMMAND c... [PROCESSORS k])
#     Any command as a test, under the same rules.
#
#   viaduct_negative_case(source EXPECT)
#     A source that compiles as it is, and must not compile, with a diagnostic that matches EXPECT, when VIADUCT_NEGATIVE
#     is defined.
#   viaduct_add_negative_test(NAME n PRECOMPILED header...)
#     One test of the cases that this folder has named before; the headers are those that the sources include.
#
# Where tests are a product of ranks, paths and programs, viaduct_pairwise() (ViaductPairwise.cmake) chooses those that
# ./test runs; the others have the labels `long` and `product`, and run in preset `long`.
#
# Labels: unit multiprocess threads fault stress long fuzz model verbs neg codegen perf
# mixed alone. `long` and `perf` are left out
# of ./test. A test that cannot run here exits with 77 and is counted as skipped. Every test has a time limit, multiplied
# by VIADUCT_TEST_TIMEOUT_FACTOR (sanitizers are slow).

find_package(GTest REQUIRED)
include(GoogleTest)
include("${CMAKE_CURRENT_LIST_DIR}/ViaductPairwise.cmake")
set(VIADUCT_TEST_TIMEOUT_FACTOR 2 CACHE STRING "Multiplies the time limit of every test")
set(VIADUCT_SKIP_CODE 77)

# The environment of every test. Sanitizers stop at the first report, with an exit code of their own.
set(VIADUCT_TEST_ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1" "ASAN_OPTIONS=exitcode=99"
                             "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/leaks.supp:print_suppressions=0"
                             "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:exitcode=99")

function(_viaduct_time_limit variable seconds)
  if(NOT seconds MATCHES "^[1-9][0-9]*$")
    message(FATAL_ERROR "a test needs TIMEOUT, in whole seconds; got '${seconds}'")
  endif()
  math(EXPR limit "${seconds} * ${VIADUCT_TEST_TIMEOUT_FACTOR}")
  set(${variable} ${limit} PARENT_SCOPE)
endfunction()

# Properties that every test gets. Tests that load the machine, measure, or look for leftovers of a job on all of the machine
# run alone; the rest shares the cores.
function(_viaduct_test_properties variable limit processors labels)
  set(alone OFF)
  if(labels MATCHES "(^|;)(stress|perf|alone)(;|$)" AND NOT labels MATCHES "(^|;)product(;|$)")
    set(alone ON)
  endif()
  set(${variable}
      "TIMEOUT ${limit} PROCESSORS ${processors} RUN_SERIAL ${alone} SKIP_RETURN_CODE ${VIADUCT_SKIP_CODE}
       LABELS \"${labels}\" ENVIRONMENT \"${VIADUCT_TEST_ENVIRONMENT}\""
      PARENT_SCOPE)
endfunction()

# What the tests of preset `stress`, and those of preset `tsan`, start, and no other tests.
add_custom_target(stress_tests)
add_custom_target(thread_tests)

# _viaduct_test_needs(LABELS WORD...): the programs that the command of a test names belong to the targets above.
function(_viaduct_test_needs labels)
  set(wanted)
  if(labels MATCHES "(^|;)(stress|long)(;|$)" AND NOT labels MATCHES "(^|;)(verbs|product)(;|$)")
    list(APPEND wanted stress_tests)
  endif()
  if(labels MATCHES "(^|;)(threads|unit)(;|$)" AND NOT labels MATCHES "(^|;)long(;|$)")
    list(APPEND wanted thread_tests)
  endif()
  string(REGEX MATCHALL "<TARGET_[A-Z_]+:[^>]+>" named "${ARGN}")
  list(TRANSFORM named REPLACE "<TARGET_[A-Z_]+:([^>]+)>" "\\1")
  foreach(program ${named} ${ARGN})
    if(TARGET "${program}")
      foreach(target ${wanted})
        add_dependencies(${target} "${program}")
      endforeach()
    endif()
  endforeach()
endfunction()

# _viaduct_register(name limit processors labels COMMAND...): one test.
function(_viaduct_register name limit processors labels)
  add_test(NAME ${name} COMMAND ${ARGN})
  _viaduct_test_needs("${labels}" ${ARGN})
  _viaduct_test_properties(properties ${limit} ${processors} "${labels}")
  cmake_language(EVAL CODE "set_tests_properties([==[${name}]==] PROPERTIES ${properties})")
endfunction()

# One test per GoogleTest case. gtest_discover_tests() itself cannot pass on a property that is a list.
function(_viaduct_register_gtest name limit labels)
  _viaduct_test_needs("${labels}" ${name})
  gtest_discover_tests(
    ${name}
    TEST_PREFIX "${name}."
    TEST_LIST ${name}_cases
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    EXTRA_ARGS ${ARGN})
  _viaduct_test_properties(properties ${limit} 1 "${labels}")
  set(script "${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake")
  file(CONFIGURE OUTPUT "${script}" @ONLY CONTENT "foreach(case IN LISTS @name@_cases)
  set_tests_properties(\"\${case}\" PROPERTIES @properties@)
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${script}")
endfunction()

function(_viaduct_uses_gtest variable)
  set(${variable} OFF PARENT_SCOPE)
  foreach(source ${ARGN})
    get_filename_component(path "${source}" ABSOLUTE)
    file(STRINGS "${path}" includes REGEX "#include [<\"]gtest/gtest\\.h[>\"]" LIMIT_COUNT 1)
    if(includes)
      set(${variable} ON PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

function(viaduct_add_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "UNCHECKED" "" "SOURCES;LIBRARIES")
  _viaduct_uses_gtest(gtest ${arg_SOURCES})
  if(gtest)
    list(APPEND arg_LIBRARIES GTest::gtest_main)  # its main is taken only when the program has none
  endif()
  set(unchecked)
  if(arg_UNCHECKED)
    set(unchecked UNCHECKED)
  endif()
  viaduct_add_executable(${name} tests/bin ${unchecked} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES} fmt::fmt)
endfunction()

function(viaduct_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "APART;UNCHECKED" "NAME;TIMEOUT" "SOURCES;LABELS;RANKS;MODES;PRODUCT;LIBRARIES;ARGS")
  if(NOT arg_NAME OR NOT arg_SOURCES OR NOT arg_LABELS OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "viaduct_add_test(${ARGN}): needs NAME, SOURCES, LABELS; unknown: '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  _viaduct_time_limit(limit "${arg_TIMEOUT}")
  set(unchecked)
  if(arg_UNCHECKED)
    set(unchecked UNCHECKED)
  endif()
  viaduct_add_program(${arg_NAME} ${unchecked} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES})

  if(NOT arg_MODES)
    set(arg_MODES processes)
  endif()
  if(arg_RANKS)
    _viaduct_add_rank_tests()
    return()
  endif()
  _viaduct_uses_gtest(gtest ${arg_SOURCES})
  if(gtest AND (arg_APART OR VIADUCT_SANITIZE OR NOT arg_LABELS STREQUAL "unit"))
    _viaduct_register_gtest(${arg_NAME} ${limit} "${arg_LABELS}" ${arg_ARGS})
  else()
    # The cases of a unit test share a process: each takes less time than a process does.
    _viaduct_register(${arg_NAME} ${limit} 1 "${arg_LABELS}" ${arg_NAME} ${arg_ARGS})
  endif()
endfunction()

# The part of viaduct_add_test that deals with RANKS; it works on that function's variables.
macro(_viaduct_add_rank_tests)
  # The launcher's limit comes first: it says which rank hangs.
  math(EXPR launcher_limit "${limit} - 5")
  if(launcher_limit LESS 1)
    message(FATAL_ERROR "${arg_NAME}: a test with RANKS needs TIMEOUT 6 or more")
  endif()
  foreach(mode ${arg_MODES})
    foreach(ranks ${arg_RANKS})
      set(variant r${ranks})
      set(labels ${arg_LABELS})
      if(mode STREQUAL "threads")
        set(variant t${ranks})
        list(APPEND labels threads)
      endif()
      set(test ${arg_NAME}_${variant})
      if(variant IN_LIST arg_PRODUCT)
        list(APPEND labels long product)
      endif()
      set(processors 1)
      if(ranks GREATER 1)
        set(processors 2)
      endif()
      _viaduct_register(
        ${test} ${limit} ${processors} "${labels}" viaduct-run -n ${ranks} --timeout ${launcher_limit} --mode ${mode}
        $<TARGET_FILE:${arg_NAME}> ${arg_ARGS})
    endforeach()
  endforeach()
endmacro()

function(viaduct_add_script_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TIMEOUT;PROCESSORS" "LABELS;COMMAND")
  if(NOT arg_PROCESSORS)
    set(arg_PROCESSORS 1)
  endif()
  _viaduct_time_limit(limit "${arg_TIMEOUT}")
  _viaduct_register(${arg_NAME} ${limit} ${arg_PROCESSORS} "${arg_LABELS}" ${arg_COMMAND})
endfunction()

function(viaduct_negative_case source expect)
  get_filename_component(path "${source}" ABSOLUTE)
  set_property(DIRECTORY APPEND_STRING PROPERTY VIADUCT_NEGATIVE_CASES
               "viaduct_negative_case([==[${path}]==] [==[${expect}]==])\n")
endfunction()

function(viaduct_add_negative_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "PRECOMPILED")
  get_property(cases DIRECTORY PROPERTY VIADUCT_NEGATIVE_CASES)
  set_property(DIRECTORY PROPERTY VIADUCT_NEGATIVE_CASES "")
  set(work "${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}")
  file(WRITE "${work}/cases.cmake" "${cases}")
  list(JOIN VIADUCT_WARNINGS " " warnings)
  list(JOIN arg_PRECOMPILED ":" precompiled)
  list(JOIN VIADUCT_INCLUDE_DIRECTORIES ":" includes)
  viaduct_add_script_test(
    NAME ${arg_NAME} LABELS neg TIMEOUT 240
    COMMAND ${CMAKE_COMMAND} -D "COMPILER=${CMAKE_CXX_COMPILER}" -D "CASES=${work}/cases.cmake"
            -D "INCLUDES=${includes}" -D "FLAGS=-std=c++20 ${warnings} -Werror"
            -D "PRECOMPILED=${precompiled}" -D "WORK=${work}" -P "${PROJECT_SOURCE_DIR}/cmake/NegativeTest.cmake")
endfunction()
