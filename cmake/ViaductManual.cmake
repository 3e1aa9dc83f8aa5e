# Man pages of the C++ interfaces and of the programs, completion, and the HTML manual (target `manual`).
if(VIADUCT_SANITIZE)
  return()  # the programs are run while they are built, where a sanitizer may not start
endif()
find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  message(STATUS "No Python 3 (Debian: python3): man pages of C++, completion and the manual are left out")
  return()
endif()
viaduct_glob(manual_tools tools/manual/*.py)

# The groups of functions: a header each. Those that users do not call are left out.
viaduct_glob(manual_headers am/include/viaduct/am/*.hpp splitc/include/viaduct/splitc/*.hpp
             runtime/include/viaduct/runtime/*.hpp splitc/include/viaduct/splitc.hpp runtime/include/viaduct/job.hpp)
list(FILTER manual_headers INCLUDE REGEX
     "/(am/(bundle|context|endpoint|future|handler|task|token|types)|splitc/[a-z_]+|runtime/(status|error|types)|viaduct/(job|splitc))\\.hpp$")
list(FILTER manual_headers EXCLUDE REGEX "/splitc/(settings|choice)\\.hpp$")
set(manual_groups)
foreach(header ${manual_headers})
  string(REGEX MATCH "viaduct/((am|splitc|runtime)/)?[a-z_]+\\.hpp$" name "${header}")
  list(APPEND manual_groups "${name}=${header}")
endforeach()

set(man3 "${PROJECT_BINARY_DIR}/manual/man3")
add_custom_command(
  OUTPUT "${PROJECT_BINARY_DIR}/manual/man3.stamp"
  COMMAND ${CMAKE_COMMAND} -E rm -rf "${man3}"
  COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/manual/man_pages.py" "${man3}" ${VIADUCT_MAN_DATE}
          ${PROJECT_VERSION} ${manual_groups}
  COMMAND ${CMAKE_COMMAND} -E touch "${PROJECT_BINARY_DIR}/manual/man3.stamp"
  DEPENDS ${manual_headers} ${manual_tools}
  COMMENT "Man pages of the C++ interfaces"
  VERBATIM)

set(manual_programs)
foreach(program ${VIADUCT_INSTALLED_PROGRAMS})
  list(APPEND manual_programs "$<TARGET_FILE:${program}>")
endforeach()
set(man1 "${PROJECT_BINARY_DIR}/manual/man1")
set(completion "${PROJECT_BINARY_DIR}/manual/completion")
add_custom_command(
  OUTPUT "${PROJECT_BINARY_DIR}/manual/man1.stamp"
  COMMAND ${CMAKE_COMMAND} -E rm -rf "${man1}" "${completion}"
  COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/manual/programs.py" "${man1}" "${completion}"
          ${VIADUCT_MAN_DATE} ${PROJECT_VERSION} ${manual_programs}
  COMMAND ${CMAKE_COMMAND} -E touch "${PROJECT_BINARY_DIR}/manual/man1.stamp"
  DEPENDS ${VIADUCT_INSTALLED_PROGRAMS} ${manual_tools}
  COMMENT "Man pages and completion of the programs"
  VERBATIM)
add_custom_target(program_pages DEPENDS "${PROJECT_BINARY_DIR}/manual/man3.stamp" "${PROJECT_BINARY_DIR}/manual/man1.stamp")
add_dependencies(man_pages program_pages)

install(DIRECTORY "${man3}/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man3")
install(DIRECTORY "${man1}/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(DIRECTORY "${completion}/bash/" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(DIRECTORY "${completion}/zsh/" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")

# cmake --build --target manual: build/PRESET/manual/html/index.html, installed where it was made.
find_program(VIADUCT_SPHINX_BUILD sphinx-build)
set(manual_html "${PROJECT_BINARY_DIR}/manual/html")
if(VIADUCT_SPHINX_BUILD)
  add_custom_target(
    manual
    COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/manual/site.py" "${PROJECT_SOURCE_DIR}"
            "${PROJECT_BINARY_DIR}/manual/pages" ${PROJECT_VERSION} ${manual_groups}
    COMMAND ${VIADUCT_SPHINX_BUILD} -q -W --keep-going -b html -d "${PROJECT_BINARY_DIR}/manual/cache"
            "${PROJECT_BINARY_DIR}/manual/pages" "${manual_html}"
    COMMAND ${CMAKE_COMMAND} -E echo "The manual is in ${manual_html}/index.html"
    COMMENT "The HTML manual"
    VERBATIM)
else()
  add_custom_target(
    manual
    COMMAND ${CMAKE_COMMAND} -E echo "The manual needs sphinx-build (Debian: python3-sphinx, python3-myst-parser)"
    COMMAND ${CMAKE_COMMAND} -E false
    VERBATIM)
endif()
install(DIRECTORY "${manual_html}/" DESTINATION "${CMAKE_INSTALL_DOCDIR}/html" OPTIONAL)
