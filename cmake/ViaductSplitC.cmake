# viaduct::splitc: what a Split-C program links: main(), and malloc from memory that the other processes reach.

viaduct_glob(splitc_sources splitc/main/*.cpp)
add_library(viaduct_splitc STATIC ${splitc_sources})
add_library(viaduct::splitc ALIAS viaduct_splitc)
viaduct_target_options(viaduct_splitc)
target_link_libraries(viaduct_splitc PUBLIC viaduct)
set_target_properties(viaduct_splitc PROPERTIES EXPORT_NAME splitc POSITION_INDEPENDENT_CODE ON)
add_dependencies(programs viaduct_splitc)  # it is installed with them
# A static object has one address in all processes; a program that is position-independent for other reasons works too.
target_link_options(viaduct_splitc INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
# A sanitizer brings its own malloc, and keeps it.
if(NOT VIADUCT_SANITIZE)
  find_package(mimalloc 2.0 REQUIRED)
  target_link_libraries(viaduct_splitc PUBLIC mimalloc)
  target_compile_definitions(viaduct_splitc PRIVATE VIADUCT_HAVE_MIMALLOC)
endif()
