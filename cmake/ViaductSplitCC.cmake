# splitcc: the compiler for Split-C, and the library that is its front end (for tests).

viaduct_glob(splitcc_front_sources compiler-shim/splitcc/diag/*.cpp compiler-shim/splitcc/lex/*.cpp
             compiler-shim/splitcc/types/*.cpp compiler-shim/splitcc/sema/*.cpp compiler-shim/splitcc/parse/*.cpp
             compiler-shim/splitcc/emit/*.cpp)
list(APPEND splitcc_front_sources "${PROJECT_SOURCE_DIR}/compiler-shim/splitcc/driver/translate.cpp")
viaduct_glob(splitcc_driver_sources compiler-shim/splitcc/driver/*.cpp)
list(REMOVE_ITEM splitcc_driver_sources "${PROJECT_SOURCE_DIR}/compiler-shim/splitcc/driver/translate.cpp")

add_library(splitcc_front STATIC ${splitcc_front_sources})
viaduct_target_options(splitcc_front)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns of "text" + std::string at -O3 without reason.
  target_compile_options(splitcc_front PUBLIC -Wno-restrict)
endif()
target_include_directories(splitcc_front PUBLIC "${PROJECT_SOURCE_DIR}")
target_link_libraries(splitcc_front PUBLIC Threads::Threads fmt::fmt)

viaduct_add_executable(splitcc bin SOURCES ${splitcc_driver_sources} LIBRARIES splitcc_front fmt::fmt)
target_compile_definitions(splitcc PRIVATE SPLITCC_LIBRARY_FOLDER="${CMAKE_INSTALL_LIBDIR}")
# What it links programs with.
add_dependencies(splitcc viaduct viaduct_splitc viaduct_splitc_c)

# splitcc.conf says where headers and libraries are: one for the build tree, beside the program, and one to be installed,
# relative to its own place.
set(splitcc_system_libraries "$<TARGET_FILE:fmt::fmt> ${OPENSSL_CRYPTO_LIBRARY} -pthread")
set(splitcc_options "-Wl,--wrap=exit")
if(VIADUCT_SANITIZE)
  list(JOIN VIADUCT_SANITIZE "," splitcc_sanitizers)
  string(APPEND splitcc_options " -fsanitize=${splitcc_sanitizers}")
else()
  set(splitcc_system_libraries "$<TARGET_FILE:mimalloc> ${splitcc_system_libraries}")
endif()
set(splitcc_build_libraries
    "$<TARGET_FILE:viaduct_splitc_c> $<TARGET_FILE:viaduct_splitc> $<TARGET_LINKER_FILE:viaduct> -Wl,-rpath,$<TARGET_FILE_DIR:viaduct>")
set(splitcc_up "\$ORIGIN/..")
set(splitcc_installed_libraries
    "${splitcc_up}/$<TARGET_FILE_NAME:viaduct_splitc_c> ${splitcc_up}/$<TARGET_FILE_NAME:viaduct_splitc> ${splitcc_up}/$<TARGET_LINKER_FILE_NAME:viaduct> -Wl,-rpath,${splitcc_up}")
file(RELATIVE_PATH splitcc_headers "/prefix/${CMAKE_INSTALL_LIBDIR}/viaduct" "/prefix/${CMAKE_INSTALL_INCLUDEDIR}")
foreach(library runtime via am splitc)
  string(APPEND splitcc_cxx_headers " ${PROJECT_SOURCE_DIR}/${library}/include")
endforeach()
file(
  GENERATE
  OUTPUT "$<TARGET_FILE_DIR:splitcc>/splitcc.conf"
  CONTENT
    "include ${PROJECT_SOURCE_DIR}/compiler-shim/include
cxx_include${splitcc_cxx_headers}
link ${splitcc_options} ${splitcc_build_libraries} ${splitcc_system_libraries}
")
file(
  GENERATE
  OUTPUT "${PROJECT_BINARY_DIR}/splitcc.installed.conf"
  CONTENT
    "include \$ORIGIN/${splitcc_headers}
link ${splitcc_options} ${splitcc_installed_libraries} ${splitcc_system_libraries}
")
install(FILES "${PROJECT_BINARY_DIR}/splitcc.installed.conf" DESTINATION "${CMAKE_INSTALL_LIBDIR}/viaduct"
        RENAME splitcc.conf)
list(APPEND VIADUCT_INSTALLED_PROGRAMS splitcc)
