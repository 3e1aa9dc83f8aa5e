# Litmus tests of the memory model, on every path.
set(here "${CMAKE_CURRENT_LIST_DIR}")
set(litmus_sources ${here}/litmus.cpp ${here}/litmus_world.cpp ${here}/litmus_word_cases.cpp
                   ${here}/litmus_fence_cases.cpp ${here}/litmus_split_cases.cpp ${here}/litmus_store_cases.cpp)
viaduct_add_program(splitc_litmus SOURCES ${litmus_sources} LIBRARIES viaduct::splitc CLI11::CLI11)

# splitc_litmus_test(NAME RANKS LABELS VARIABLE=VALUE [ARGUMENT...])
function(splitc_litmus_test name ranks labels setting)
  viaduct_add_script_test(
    NAME splitc_litmus_${name}_r${ranks} LABELS ${labels} TIMEOUT 180 PROCESSORS 2
    COMMAND ${CMAKE_COMMAND} -E env ${setting} $<TARGET_FILE:viaduct-run> -n ${ranks} --timeout 170
            $<TARGET_FILE:splitc_litmus> ${ARGN})
endfunction()
foreach(path auto direct rdma message)
  foreach(ranks 1 2 4)
    splitc_litmus_test(${path} ${ranks} multiprocess VIADUCT_SPLITC_PATH=${path})
  endforeach()
  foreach(ranks 2 7)
    splitc_litmus_test(long_${path} ${ranks} stress VIADUCT_SPLITC_PATH=${path} --ms 400)
  endforeach()
endforeach()
splitc_litmus_test(two_vis 2 multiprocess VIADUCT_SPLITC_VIS=2 store)
splitc_litmus_test(one_credit 4 multiprocess VIADUCT_SPLITC_CREDITS=1 store)
