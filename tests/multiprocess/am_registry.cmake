# Handler identity between ranks.
set(here "${CMAKE_CURRENT_SOURCE_DIR}")

# Two programs with the same handlers but one: a job made of both must be refused.
foreach(variant a b)
  viaduct_add_program(am_registry_program_${variant} SOURCES am_registry_program.cpp)
endforeach()
target_compile_definitions(am_registry_program_b PRIVATE VIADUCT_TEST_VARIANT_B)
viaduct_add_script_test(
  NAME am_registry_two_programs LABELS multiprocess TIMEOUT 180 PROCESSORS 2
  COMMAND "${here}/am_registry_two_programs.sh" $<TARGET_FILE:viaduct-run>
          $<TARGET_FILE:am_registry_program_a> $<TARGET_FILE:am_registry_program_b> $<TARGET_FILE:splitc_model>)

# Handlers in libraries that each rank opens at another address and in another order.
foreach(letter a b)
  add_library(am_registry_library_${letter} MODULE am_registry_library.cpp)
  viaduct_target_options(am_registry_library_${letter})
  target_include_directories(am_registry_library_${letter} PRIVATE ${VIADUCT_INCLUDE_DIRECTORIES})
endforeach()
target_compile_definitions(am_registry_library_b PRIVATE VIADUCT_TEST_LIBRARY_B)
viaduct_add_test(
  NAME am_registry_libraries SOURCES am_registry_libraries.cpp LABELS multiprocess TIMEOUT 180
  RANKS 1 2 4 7 MODES processes threads LIBRARIES ${CMAKE_DL_LIBS}
  ARGS $<TARGET_FILE:am_registry_library_a> $<TARGET_FILE:am_registry_library_b>)
add_dependencies(am_registry_libraries am_registry_library_a am_registry_library_b)
