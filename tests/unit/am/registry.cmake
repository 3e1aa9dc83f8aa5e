# A library without a build-id, for registry_test to open.
add_library(registry_no_build_id MODULE registry_no_build_id.cpp)
viaduct_target_options(registry_no_build_id)
target_link_options(registry_no_build_id PRIVATE -Wl,--build-id=none)
add_dependencies(am.registry_test registry_no_build_id)
target_compile_definitions(
  am.registry_test PRIVATE VIADUCT_LIBRARY_WITHOUT_BUILD_ID="$<TARGET_FILE:registry_no_build_id>")
