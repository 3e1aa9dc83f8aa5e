# How every target of this project is compiled, and the helpers that declare programs.

# A few hundred programs are linked for the tests. The linker of LLVM takes a third of the time; what is measured and
# installed is linked by the system's own.
if(VIADUCT_LINK_FAST)
  find_program(VIADUCT_LLD ld.lld)
  mark_as_advanced(VIADUCT_LLD)
  if(VIADUCT_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

if(VIADUCT_SANITIZE)
  list(JOIN VIADUCT_SANITIZE "," _viaduct_sanitizers)
  add_compile_options(-fsanitize=${_viaduct_sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${_viaduct_sanitizers})
endif()

set(VIADUCT_WARNINGS -Wall -Wextra -Wpedantic -Wconversion)
if("thread" IN_LIST VIADUCT_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ warns of every fence that its thread sanitizer does not model. The fences here order a store before a load
  # (sleep and wake-up), which no report of a data race depends on; what is handed over goes through acquire and release.
  list(APPEND VIADUCT_WARNINGS -Wno-tsan)
endif()
if(VIADUCT_WERROR)
  list(APPEND VIADUCT_WARNINGS -Werror)
endif()

# Each layer has its public headers in <layer>/include/viaduct, and all are included as "viaduct/...", as programs do.
# What only our own sources may include is written from the root of the repository.
set(VIADUCT_PUBLIC_DIRECTORIES)
foreach(layer runtime via am splitc)
  list(APPEND VIADUCT_PUBLIC_DIRECTORIES "${PROJECT_SOURCE_DIR}/${layer}/include")
endforeach()
set(VIADUCT_GENERATED "${PROJECT_BINARY_DIR}/generated")
# For tests that call a compiler themselves.
set(VIADUCT_INCLUDE_DIRECTORIES ${VIADUCT_PUBLIC_DIRECTORIES} "${VIADUCT_GENERATED}" "${PROJECT_SOURCE_DIR}")

include(ViaductPrecompile)

# viaduct_target_options(TARGET): language level and warnings, for our own targets only.
function(viaduct_target_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE ${VIADUCT_WARNINGS})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  if(VIADUCT_PRECOMPILE)
    # When all is known of the target.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL viaduct_precompile [==[${target}]==])")
  endif()
endfunction()

# viaduct_unite(TARGET FOLDER...): with VIADUCT_UNITE the target's sources in FOLDERs are compiled eight at a time, which takes a
# third of the time: most of it is for the headers. Names in their anonymous namespaces must differ. For sources whose speed matters
# little, since what the compiler inlines changes, and which no program compiles again in place of the library's.
option(VIADUCT_UNITE "Compile the sources of the cold parts several at a time" OFF)
function(viaduct_unite target)
  if(NOT VIADUCT_UNITE)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/")
  foreach(source ${sources})
    get_filename_component(folder "${source}" DIRECTORY)
    if(NOT folder IN_LIST ARGN)
      set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# viaduct_glob(VARIABLE PATTERN...): files that match, relative to the repository's root. A new file needs no edit of a
# CMakeLists.txt: the build looks again by itself.
function(viaduct_glob variable)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/")
  file(GLOB found CONFIGURE_DEPENDS ${ARGN})
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# Everything that a user runs: tools, benchmarks, examples; no tests.
add_custom_target(programs)

# viaduct_add_executable(NAME DIRECTORY [UNCHECKED] SOURCES... [LIBRARIES...]): a program in <build>/DIRECTORY. With
# VIADUCT_CHECKED tests and examples are built in checked mode (docs/checked.md), but for those that are UNCHECKED.
function(viaduct_add_executable name directory)
  cmake_parse_arguments(PARSE_ARGV 2 arg "UNCHECKED" "" "SOURCES;LIBRARIES")
  if(VIADUCT_CHECKED AND directory MATCHES "^(tests/bin|examples)" AND NOT arg_UNCHECKED)
    list(APPEND arg_LIBRARIES viaduct::checked)
  endif()
  add_executable(${name} ${arg_SOURCES})
  viaduct_target_options(${name})
  target_link_libraries(${name} PRIVATE viaduct::viaduct ${arg_LIBRARIES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${directory}")
  if(NOT directory MATCHES "^tests/")
    add_dependencies(programs ${name})
  endif()
endfunction()
