# cmake --install: library, headers, programs; found again with find_package(viaduct) or pkg-config.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/viaduct")
set(header_dir "${CMAKE_INSTALL_INCLUDEDIR}/viaduct")

# A shared library is found from the programs' own place, wherever the tree is moved to.
file(RELATIVE_PATH library_from_programs "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${CMAKE_INSTALL_LIBDIR}")
if(VIADUCT_INSTALLED_PROGRAMS)
  set_target_properties(${VIADUCT_INSTALLED_PROGRAMS} PROPERTIES INSTALL_RPATH "$ORIGIN/${library_from_programs}")
endif()
install(
  TARGETS viaduct viaduct_vipl viaduct_am2 viaduct_checked ${VIADUCT_INSTALLED_PROGRAMS}
  EXPORT viaductTargets
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILE_SET generated_headers DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/via/vipl/vipl.h" "${PROJECT_SOURCE_DIR}/via/vipl/underneath.hpp"
        DESTINATION "${header_dir}/via/vipl")
install(FILES "${PROJECT_SOURCE_DIR}/am/c/am.h" "${PROJECT_SOURCE_DIR}/am/c/am_old.h"
              "${PROJECT_SOURCE_DIR}/am/c/am_spmd.h" "${PROJECT_SOURCE_DIR}/am/c/underneath.hpp" DESTINATION "${header_dir}/am/c")
# One man page for each function, with what the header says of it; ARGN: headers of its other names.
set(man_folder "${PROJECT_BINARY_DIR}/man")
set(VIADUCT_MAN_DATE "2026-11-25")  # of the pages' present form
file(MAKE_DIRECTORY "${man_folder}")
function(viaduct_man_pages header first interface what see)
  set(headers ${header} ${ARGN})
  list(TRANSFORM headers PREPEND "${PROJECT_SOURCE_DIR}/")
  add_custom_command(
    OUTPUT "${man_folder}/${first}"
    COMMAND awk -v "folder=${man_folder}" -v "date=${VIADUCT_MAN_DATE}" -v "version=${PROJECT_VERSION}" -v "interface=${interface}" -v "what=${what}"
            -v "see=${see}" -f "${PROJECT_SOURCE_DIR}/cmake/man_pages.awk" ${headers}
    DEPENDS "${PROJECT_SOURCE_DIR}/cmake/man_pages.awk" ${headers}
    VERBATIM)
endfunction()
viaduct_man_pages(
  via/vipl/vipl.h VipOpenNic.3 VIPL "VIPL, the C interface of the VI Architecture"
  "The developer's guide of the VI Architecture 1.0; docs/vipl.md of viaduct.")
viaduct_man_pages(
  am/c/am.h AM_Init.3 AM-2 "AM-2, the C interface of Active Messages" "docs/am2.md of viaduct." am/c/am_old.h)
viaduct_man_pages(
  am/c/am_spmd.h AMX_SPMDStartup.3 AM-2 "the start-up of SPMD programs over AM-2" "docs/am2.md of viaduct.")
add_custom_target(
  man_pages ALL DEPENDS "${man_folder}/VipOpenNic.3" "${man_folder}/AM_Init.3" "${man_folder}/AMX_SPMDStartup.3")
add_dependencies(programs man_pages)
install(DIRECTORY "${man_folder}/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man3" FILES_MATCHING PATTERN "Vip*.3"
        PATTERN "AM*.3")
install(EXPORT viaductTargets NAMESPACE viaduct:: DESTINATION "${package_dir}")
# By itself: it needs a library more, which users of Active Messages alone need not have.
install(TARGETS viaduct_splitc EXPORT viaductSplitcTargets)
install(EXPORT viaductSplitcTargets NAMESPACE viaduct:: DESTINATION "${package_dir}")

set(VIADUCT_SPLITC_NEEDS_MIMALLOC ON)
if(VIADUCT_SANITIZE)
  set(VIADUCT_SPLITC_NEEDS_MIMALLOC OFF)
endif()
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/viaductConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/viaductConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/viaductConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/viaductConfig.cmake" "${PROJECT_BINARY_DIR}/viaductConfigVersion.cmake"
        DESTINATION "${package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# A static library's own needs are its users' needs; a shared one brings them along.
get_target_property(viaduct_type viaduct TYPE)
if(viaduct_type STREQUAL "STATIC_LIBRARY")
  set(VIADUCT_PC_REQUIRES "fmt libcrypto")
  set(VIADUCT_PC_REQUIRES_PRIVATE "")
  set(VIADUCT_PC_CXX_LIBS "-lstdc++ -lm")
else()
  set(VIADUCT_PC_REQUIRES "")
  set(VIADUCT_PC_REQUIRES_PRIVATE "fmt libcrypto")
  set(VIADUCT_PC_CXX_LIBS "")
endif()
# Not the language: a program chooses it, and the headers say which is too old.
set(VIADUCT_PC_CFLAGS "-pthread")
foreach(definition ${VIADUCT_CHECK_DEFINITIONS})
  string(APPEND VIADUCT_PC_CFLAGS " -D${definition}")
endforeach()
# Relative to the file's own place, so that an installed tree may be moved.
file(RELATIVE_PATH VIADUCT_PC_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
set(VIADUCT_PC_SPLITC_LIBS "-lviaduct_splitc")
if(VIADUCT_SPLITC_NEEDS_MIMALLOC)
  string(APPEND VIADUCT_PC_SPLITC_LIBS " -lmimalloc")
endif()
foreach(name viaduct viaduct-splitc viaduct-checked viaduct-vipl viaduct-am2)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()

# What users read, in the folders of a checkout, so that links lead where they should; and programs that they can change:
# each builds with the CMakeLists.txt or the Makefile beside it. Those of splitc/ use this project's command lines: they
# are there to be read.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}" FILES_MATCHING PATTERN "*.md"
        PATTERN "*.svg")
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md" "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
set(example_dir "${CMAKE_INSTALL_DOCDIR}/examples")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/installed/" DESTINATION "${example_dir}")
viaduct_glob(installed_examples examples/*.cpp)
install(FILES ${installed_examples} DESTINATION "${example_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/tutorial" "${PROJECT_SOURCE_DIR}/examples/split-c"
        "${PROJECT_SOURCE_DIR}/examples/splitc" "${PROJECT_SOURCE_DIR}/examples/coming_from"
        DESTINATION "${example_dir}"
        FILES_MATCHING PATTERN "*.cpp" PATTERN "*.hpp" PATTERN "*.c" PATTERN "*.sc" PATTERN "README.md" REGEX "/data/[^/]*$"
        PATTERN "tests" EXCLUDE)

if(PROJECT_IS_TOP_LEVEL)
  include(ViaductManual)
endif()
