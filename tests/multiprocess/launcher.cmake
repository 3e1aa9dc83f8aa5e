# Tests of viaduct-run: they start it with programs that end, hang and misbehave.
viaduct_add_program(launcher_actor SOURCES programs/launcher_actor.cpp programs/launcher_actor_children.cpp
                    programs/launcher_actor_page.cpp programs/launcher_actor_streams.cpp)
viaduct_add_program(without_syscalls SOURCES programs/without_syscalls.cpp)

add_library(launcher_driver STATIC launcher_driver.cpp launcher_rendezvous.cpp
            ${PROJECT_SOURCE_DIR}/tests/fault/leftovers.cpp)
viaduct_target_options(launcher_driver)
target_link_libraries(launcher_driver PUBLIC viaduct::viaduct GTest::gtest)
viaduct_glob(launcher_tests tests/multiprocess/launcher_*test.cpp)
if(VIADUCT_SANITIZE) # whose runtimes do not work without /proc, descriptors and all system calls
  list(FILTER launcher_tests EXCLUDE REGEX "/launcher_poor_test.cpp$")
endif()
foreach(test ${launcher_tests})
  get_filename_component(name ${test} NAME_WE)
  viaduct_add_test(
    NAME ${name}
    SOURCES ${test}
    LIBRARIES launcher_driver
    LABELS multiprocess
    TIMEOUT 180)
  add_dependencies(${name} viaduct-run launcher_actor without_syscalls)
endforeach()
# Supervisor, launcher and watchdog killed 300 times, alone and two at once; 110 terminals closed.
viaduct_add_script_test(
  NAME launcher_supervisor_test_300
  LABELS multiprocess fault long
  TIMEOUT 300
  COMMAND $<TARGET_FILE:launcher_supervisor_test> --gtest_filter=Each/Killed.AtAnyMoment/* --gtest_repeat=5)
viaduct_add_script_test(
  NAME launcher_terminal_test_110
  LABELS multiprocess fault long
  TIMEOUT 300
  COMMAND $<TARGET_FILE:launcher_terminal_test> --gtest_repeat=5)
viaduct_add_script_test(
  NAME launcher_slurm
  LABELS multiprocess
  TIMEOUT 180
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/launcher_slurm.sh $<TARGET_FILE:launcher_actor>)
viaduct_add_script_test(
  NAME launcher_ssh
  LABELS multiprocess
  TIMEOUT 400
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/launcher_ssh.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:launcher_actor>)
viaduct_add_script_test(
  NAME launcher_cut
  LABELS multiprocess
  TIMEOUT 180
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/launcher_cut.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:launcher_actor>)
if(TARGET splitcc)
  viaduct_add_script_test(
    NAME splitcc_ended
    LABELS multiprocess
    TIMEOUT 180
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/splitcc_ended.sh $<TARGET_FILE:splitcc> "${VIADUCT_SANITIZE}")
endif()
