# Precompiled headers and ccache: what makes this project's own build shorter. None of it reaches a user's program.

option(VIADUCT_PRECOMPILE "Precompile the standard headers that most of Viaduct's own sources include" OFF)
option(VIADUCT_CCACHE "Compile through ccache when it is installed" ${PROJECT_IS_TOP_LEVEL})

# A launcher that the user has chosen stays. Paths below the source folder are hashed as relative ones, so that all build
# folders share results; CCACHE_NOHASHDIR=1 in the environment lets clones in different folders share them too, at the
# price of debug information that may name the folder of another clone.
find_program(VIADUCT_CCACHE_PROGRAM ccache)
mark_as_advanced(VIADUCT_CCACHE_PROGRAM)
if(VIADUCT_CCACHE AND VIADUCT_CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_PCH_EXTSUM=true "${VIADUCT_CCACHE_PROGRAM}")
  set(VIADUCT_PRECOMPILE_LAUNCHER "${PROJECT_SOURCE_DIR}/cmake/precompile.sh" ${CMAKE_CXX_COMPILER_LAUNCHER})
  message(STATUS "Compiling through ${VIADUCT_CCACHE_PROGRAM}")
  # Programs that call a compiler themselves find ccache under the compiler's name, where the distribution has such links.
  find_program(VIADUCT_CCACHE_GCC gcc PATHS /usr/lib/ccache /usr/lib64/ccache NO_DEFAULT_PATH)
  mark_as_advanced(VIADUCT_CCACHE_GCC)
  if(VIADUCT_CCACHE_GCC)
    get_filename_component(_viaduct_ccache_links "${VIADUCT_CCACHE_GCC}" DIRECTORY)
    set(VIADUCT_CCACHE_ENVIRONMENT
        ${CMAKE_COMMAND} -E env "PATH=${_viaduct_ccache_links}:$ENV{PATH}" "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}")
  endif()
endif()

# _viaduct_add_precompiled(NAME PIC HEADER...): compiles the headers once; other targets take the result from NAME.
function(_viaduct_add_precompiled name pic)
  set(source "${PROJECT_BINARY_DIR}/generated/precompiled/${name}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL "${source}")
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ${pic})
  if(VIADUCT_PRECOMPILE_LAUNCHER)
    set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "${VIADUCT_PRECOMPILE_LAUNCHER}")
  endif()
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_options(${name} PRIVATE ${VIADUCT_WARNINGS})
  target_precompile_headers(${name} PRIVATE ${ARGN})
  _viaduct_precompile_options(${name})
endfunction()

# The definitions that change what is in the headers: the same wherever they are used. ccache needs g++'s -fpch-preprocess.
#
# g++ 12 forgets of a precompiled header that it is the system's, and reports its own false findings in inlined strings as
# ours. Preset dev, which has none of them, keeps these warnings; the more optimised builds go without.
function(_viaduct_precompile_options target)
  target_compile_definitions(
    ${target} PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>
                      $<TARGET_PROPERTY:viaduct,INTERFACE_COMPILE_DEFINITIONS>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)
    if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" OR VIADUCT_SANITIZE)
      target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                                               -Wno-stringop-overread)
    endif()
  endif()
endfunction()

# viaduct_precompile(TARGET): its sources find the headers compiled, and may not rely on that: every one includes what it
# needs, which preset asan shows, for it builds without. Called at the end of the target's CMakeLists.txt, by
# viaduct_target_options; a target with DISABLE_PRECOMPILE_HEADERS or with sources in C is left alone.
function(viaduct_precompile target)
  get_target_property(off ${target} DISABLE_PRECOMPILE_HEADERS)
  get_target_property(sources ${target} SOURCES)
  if(off OR sources MATCHES "\\.c(;|$)")
    return()
  endif()
  get_target_property(pic ${target} POSITION_INDEPENDENT_CODE)
  get_target_property(type ${target} TYPE)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  set(from viaduct_precompiled)
  if(pic OR type STREQUAL "SHARED_LIBRARY" OR type STREQUAL "MODULE_LIBRARY")
    set(from viaduct_precompiled_pic)
  elseif("GTest::gtest_main" IN_LIST libraries)
    set(from viaduct_precompiled_gtest)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${from})
  _viaduct_precompile_options(${target})
endfunction()

if(VIADUCT_PRECOMPILE)
  # What at least a tenth of the sources include, directly or by the public headers. <fstream> and the like are left out:
  # a longer list costs every source more than the few gain by it.
  set(_viaduct_headers
      <algorithm> <array> <atomic> <cerrno> <csignal> <cstdio> <cstdlib> <cstring> <deque> <functional> <map> <memory>
      <mutex> <optional> <span> <string> <string_view> <thread> <unordered_map> <utility> <vector> <fcntl.h>
      <immintrin.h> <poll.h> <sys/mman.h> <sys/socket.h> <sys/stat.h> <unistd.h> <fmt/format.h>)
  _viaduct_add_precompiled(viaduct_precompiled OFF ${_viaduct_headers})
  _viaduct_add_precompiled(viaduct_precompiled_pic ON ${_viaduct_headers})
  if(VIADUCT_BUILD_TESTS)
    _viaduct_add_precompiled(viaduct_precompiled_gtest OFF ${_viaduct_headers} <gtest/gtest.h>)
    target_compile_options(viaduct_precompiled_gtest PRIVATE $<TARGET_PROPERTY:GTest::gtest,INTERFACE_COMPILE_OPTIONS>)
  endif()
endif()
