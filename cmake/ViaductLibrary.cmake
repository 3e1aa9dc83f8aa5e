# The library, and the programs that are installed with it.

viaduct_glob(sources runtime/src/*.cpp via/src/*.cpp via/*/*.cpp via/*/src/*.cpp am/src/*.cpp splitc/src/*.cpp)
viaduct_glob(VIADUCT_PUBLIC_HEADERS */include/viaduct/*.hpp */include/viaduct/*/*.hpp */include/viaduct/*/*/*.hpp)
list(REMOVE_DUPLICATES sources)
list(FILTER sources EXCLUDE REGEX "/via/vipl/src/")
# libibverbs is loaded when provider verbs is opened; to build, its headers are enough.
find_path(VIADUCT_IBVERBS_INCLUDE infiniband/verbs.h)
if(NOT VIADUCT_IBVERBS_INCLUDE)
  message(STATUS "No headers of libibverbs (Debian: libibverbs-dev): provider verbs is left out")
  list(FILTER sources EXCLUDE REGEX "/via/verbs/src/")
  list(APPEND sources "${PROJECT_SOURCE_DIR}/via/verbs/absent/provider.cpp")
endif()

set(version_header "${VIADUCT_GENERATED}/viaduct/runtime/version.hpp")
configure_file("${PROJECT_SOURCE_DIR}/cmake/version.hpp.in" "${version_header}" @ONLY)

add_library(viaduct ${sources})
add_library(viaduct::viaduct ALIAS viaduct)
viaduct_target_options(viaduct)
viaduct_unite(viaduct runtime/src via/fault/src)
# Two sets, because the build folder may lie inside the source folder.
target_sources(
  viaduct
  PUBLIC FILE_SET HEADERS BASE_DIRS ${VIADUCT_PUBLIC_DIRECTORIES} FILES ${VIADUCT_PUBLIC_HEADERS}
  PUBLIC FILE_SET generated_headers TYPE HEADERS BASE_DIRS "${VIADUCT_GENERATED}" FILES "${version_header}")
# The hot path is inline: a program must see the same setting as the library. Sanitizers have checks of their own.
set(VIADUCT_CHECK_DEFINITIONS)
if(VIADUCT_CHECKED AND NOT VIADUCT_SANITIZE)
  set(VIADUCT_CHECK_DEFINITIONS _GLIBCXX_ASSERTIONS)
endif()
target_compile_definitions(viaduct PUBLIC ${VIADUCT_CHECK_DEFINITIONS})
target_link_libraries(viaduct PUBLIC Threads::Threads PRIVATE fmt::fmt OpenSSL::Crypto ${CMAKE_DL_LIBS})
# PMIx is loaded at run time; only its headers are needed here.
target_include_directories(viaduct SYSTEM PRIVATE ${pmix_INCLUDE_DIRS})
set_target_properties(
  viaduct PROPERTIES POSITION_INDEPENDENT_CODE ON VERSION ${PROJECT_VERSION}
                     SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# viaduct_add_c_interface(NAME FOLDER): an interface for programs in C, in a library of its own: a program without it neither
# builds nor links it. Its headers stand in FOLDER, by themselves. CMake links its programs as C++, which the library is.
function(viaduct_add_c_interface name folder)
  set(library viaduct_${name})
  viaduct_glob(sources ${folder}/src/*.cpp)
  add_library(${library} ${sources})
  add_library(viaduct::${name} ALIAS ${library})
  viaduct_target_options(${library})
  target_link_libraries(${library} PRIVATE viaduct::viaduct fmt::fmt)
  target_include_directories(
    ${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/${folder}>
                      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/viaduct/${folder}>)
  set_target_properties(
    ${library}
    PROPERTIES EXPORT_NAME ${name} INTERFACE_COMPILE_FEATURES "" POSITION_INDEPENDENT_CODE ON VERSION ${PROJECT_VERSION}
               SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()
viaduct_add_c_interface(vipl via/vipl)
viaduct_add_c_interface(am2 am/c)

# Checked mode of Split-C (docs/checked.md): what links this lets its operations be checked.
add_library(viaduct_checked INTERFACE)
add_library(viaduct::checked ALIAS viaduct_checked)
set_target_properties(viaduct_checked PROPERTIES EXPORT_NAME checked)
target_compile_definitions(viaduct_checked INTERFACE VIADUCT_CHECKED=1)

# Command lines and JSON of the programs. Only this library compiles CLI11 and nlohmann-json, which take longer than most
# programs, and its speed matters to nobody: no optimiser.
viaduct_glob(program_sources runtime/program/*.cpp)
add_library(viaduct_program STATIC ${program_sources})
viaduct_target_options(viaduct_program)
target_compile_options(viaduct_program PRIVATE -O0)
set_target_properties(viaduct_program PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
target_link_libraries(viaduct_program PUBLIC viaduct::viaduct PRIVATE CLI11::CLI11 nlohmann_json::nlohmann_json)

# Programs: one folder each, in <build>/bin.
set(VIADUCT_INSTALLED_PROGRAMS)
foreach(pair viaduct-run:runtime/launcher viaduct-info:tools/viaduct-info)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 program)
  list(GET pair 1 folder)
  viaduct_glob(program_sources ${folder}/*.cpp)
  if(program_sources)
    viaduct_add_executable(
      ${program} bin SOURCES ${program_sources} LIBRARIES viaduct_program fmt::fmt PkgConfig::hwloc)
    viaduct_unite(${program} runtime/launcher)
    list(APPEND VIADUCT_INSTALLED_PROGRAMS ${program})
  endif()
endforeach()
