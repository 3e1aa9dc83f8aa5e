# Tests of viaduct-run: they start it with programs that end, hang and misbehave.
foreach(program launcher_actor without_syscalls)
  viaduct_add_program(${program} SOURCES ${PROJECT_SOURCE_DIR}/tests/multiprocess/programs/${program}.cpp)
endforeach()

viaduct_glob(launcher_tests tests/multiprocess/launcher_*test.cpp)
foreach(test ${launcher_tests})
  get_filename_component(name ${test} NAME_WE)
  viaduct_add_test(
    NAME ${name}
    SOURCES ${test} ${PROJECT_SOURCE_DIR}/tests/multiprocess/launcher_driver.cpp
    LABELS multiprocess
    TIMEOUT 60)
  add_dependencies(${name} viaduct-run launcher_actor without_syscalls)
endforeach()
viaduct_add_script_test(
  NAME launcher_slurm
  LABELS multiprocess
  TIMEOUT 180
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/launcher_slurm.sh $<TARGET_FILE:launcher_actor>)
viaduct_add_script_test(
  NAME launcher_ssh
  LABELS multiprocess
  TIMEOUT 240
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/launcher_ssh.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:launcher_actor>)
