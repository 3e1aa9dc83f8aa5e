# Collectives: against a model in one process; calls that do not fit; processes that are lost.
set(here "${CMAKE_CURRENT_LIST_DIR}")
set(check "${PROJECT_SOURCE_DIR}/tests/conformance/check.cpp")

viaduct_add_test(
  NAME splitc_collective_test
  SOURCES ${here}/collective_test.cpp ${check}
  LIBRARIES viaduct::splitc
  LABELS multiprocess
  RANKS 1 2 3 4 5 7 8 16
  TIMEOUT 120)
# Ranks that are threads, for the thread sanitizer.
foreach(ranks 2 3 7)
  viaduct_add_script_test(
    NAME splitc_collective_test_t${ranks} LABELS multiprocess threads TIMEOUT 120 PROCESSORS 2
    COMMAND viaduct-run -n ${ranks} --mode threads --timeout 110 $<TARGET_FILE:splitc_collective_test>)
endforeach()
# Lines that travel as messages.
foreach(ranks 2 3 7)
  viaduct_add_script_test(
    NAME splitc_collective_test_by_message_r${ranks} LABELS multiprocess TIMEOUT 120 PROCESSORS 2
    COMMAND ${CMAKE_COMMAND} -E env VIADUCT_SPLITC_PATH=message $<TARGET_FILE:viaduct-run> -n ${ranks} --timeout 110
            $<TARGET_FILE:splitc_collective_test>)
endforeach()
