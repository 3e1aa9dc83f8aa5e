# Programs of the time leave what they have allocated to the end of the process. For tests that run them.
set(VIADUCT_SPLIT_C_ENVIRONMENT ${CMAKE_COMMAND} -E env "ASAN_OPTIONS=exitcode=99:detect_leaks=0")

# viaduct_add_split_c(NAME DIRECTORY SOURCES s... [FLAGS f...]): a program in <build>/DIRECTORY that splitcc makes of
# Split-C (and C) source. Sources that include others of the same folder are made again when any file there changes.
# Sources are named from the top of the tree: so debug information is alike in all clones, and ccache helps in each.
function(viaduct_add_split_c name directory)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;FLAGS")
  set(sources)
  set(names)
  set(beside)
  foreach(source ${arg_SOURCES})
    get_filename_component(path "${source}" ABSOLUTE)
    get_filename_component(folder "${path}" DIRECTORY)
    file(GLOB headers CONFIGURE_DEPENDS "${folder}/*.h")
    list(APPEND sources "${path}")
    file(RELATIVE_PATH path_from_top "${PROJECT_SOURCE_DIR}" "${path}")
    list(APPEND names "${path_from_top}")
    list(APPEND beside ${headers})
  endforeach()
  viaduct_glob(runtime_headers compiler-shim/include/split-c/*.h)
  set(program "${PROJECT_BINARY_DIR}/${directory}/${name}")
  add_custom_command(
    OUTPUT "${program}"
    COMMAND ${CMAKE_COMMAND} -E make_directory "${PROJECT_BINARY_DIR}/${directory}"
    COMMAND ${VIADUCT_CCACHE_ENVIRONMENT} $<TARGET_FILE:splitcc> -O2 -g ${arg_FLAGS} ${names} -o "${program}" -lm
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    DEPENDS ${sources} ${beside} ${runtime_headers} splitcc viaduct viaduct_splitc viaduct_splitc_c
    COMMENT "Compiling Split-C program ${directory}/${name}"
    VERBATIM)
  add_custom_target(split_c_program_${name} ALL DEPENDS "${program}")
  if(NOT directory MATCHES "^tests/")
    add_dependencies(programs split_c_program_${name})
  endif()
  set(VIADUCT_PROGRAM_${name} "${program}" PARENT_SCOPE)
endfunction()
