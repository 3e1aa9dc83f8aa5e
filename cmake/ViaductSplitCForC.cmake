# viaduct::splitc_c: what C that splitcc generates links, or C that a person writes with split-c/runtime.h: main() that
# calls splitc_main, and the library of Split-C.
enable_language(C)
include(ViaductSplitCPrograms)

viaduct_glob(splitc_c_sources compiler-shim/runtime/*.cpp)
viaduct_glob(splitc_c_headers compiler-shim/include/split-c/*.h)
add_library(viaduct_splitc_c STATIC ${splitc_c_sources})
add_library(viaduct::splitc_c ALIAS viaduct_splitc_c)
viaduct_target_options(viaduct_splitc_c)
set_target_properties(viaduct_splitc_c PROPERTIES EXPORT_NAME splitc_c POSITION_INDEPENDENT_CODE OFF
                                                 DISABLE_PRECOMPILE_HEADERS ON)
target_include_directories(viaduct_splitc_c PRIVATE "${PROJECT_SOURCE_DIR}/compiler-shim/include")
target_compile_options(viaduct_splitc_c PRIVATE -fno-pie)
target_include_directories(
  viaduct_splitc_c INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/compiler-shim/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(viaduct_splitc_c PUBLIC viaduct_splitc PRIVATE fmt::fmt)
# exit() is an end of splitc_main.
target_link_options(viaduct_splitc_c INTERFACE -Wl,--wrap=exit)

# What splitcc links.
install(TARGETS viaduct_splitc_c ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")

# Beside each other, as makefiles of the time expect: PREFIX/include/split-c/Make.split-c.
install(FILES ${splitc_c_headers} "${PROJECT_SOURCE_DIR}/compiler-shim/include/split-c/Make.split-c"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/split-c")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/compiler-shim/include/split-c/cm5"
                  "${PROJECT_SOURCE_DIR}/compiler-shim/include/split-c/machines"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/split-c")
