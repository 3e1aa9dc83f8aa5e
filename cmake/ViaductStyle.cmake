# Targets for contributors: `format` lays out all sources, `tidy` points at mistakes in the compiled ones.

find_program(VIADUCT_CLANG_FORMAT clang-format-14)
find_program(VIADUCT_CLANG_TIDY clang-tidy-14)
mark_as_advanced(VIADUCT_CLANG_FORMAT VIADUCT_CLANG_TIDY)

set(sources)
foreach(folder runtime via am splitc benchmarks examples tools tests)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.[ch]pp")
  list(APPEND sources ${found})
endforeach()
list(JOIN sources "\n" lines)
file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/sources.txt" CONTENT "${lines}\n")

if(VIADUCT_CLANG_FORMAT)
  add_custom_target(
    format
    COMMAND xargs -d "\\n" -a "${PROJECT_BINARY_DIR}/sources.txt" "${VIADUCT_CLANG_FORMAT}" -i
    VERBATIM)
endif()
if(VIADUCT_CLANG_TIDY)
  # Only what this build compiles: a header is looked at through the sources that include it.
  add_custom_target(
    tidy
    COMMAND
      sh -c "grep -E '\\.cpp$' sources.txt | grep -v -e /tests/neg/ -e /tests/consumer/ | xargs -d '\\n' -n 1 -P 2 '${VIADUCT_CLANG_TIDY}' -p . --quiet"
    WORKING_DIRECTORY "${PROJECT_BINARY_DIR}"
    USES_TERMINAL VERBATIM)
endif()
