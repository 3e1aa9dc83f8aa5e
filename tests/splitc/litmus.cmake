# Litmus tests of the memory model, on every path.
set(here "${CMAKE_CURRENT_LIST_DIR}")
add_library(splitc_litmus_cases STATIC ${here}/litmus_world.cpp ${here}/litmus_word_cases.cpp
                                       ${here}/litmus_fence_cases.cpp ${here}/litmus_split_cases.cpp
                                       ${here}/litmus_store_cases.cpp)
viaduct_target_options(splitc_litmus_cases)
target_link_libraries(splitc_litmus_cases PUBLIC viaduct::viaduct)
add_library(splitc_litmus_main OBJECT ${here}/litmus.cpp)
viaduct_target_options(splitc_litmus_main)
target_link_libraries(splitc_litmus_main PRIVATE viaduct::viaduct viaduct_program)
set(litmus_libraries splitc_litmus_main splitc_litmus_cases viaduct::splitc)
viaduct_add_program(splitc_litmus UNCHECKED SOURCES ${here}/litmus_world.cpp LIBRARIES ${litmus_libraries})

# splitc_litmus_test(NAME RANKS LABELS VARIABLE=VALUE [ARGUMENT...]): two processes are bound, so that they meet.
function(splitc_litmus_test name ranks labels setting)
  set(bind)
  if(ranks EQUAL 2)
    set(bind --bind)
  endif()
  viaduct_add_script_test(
    NAME splitc_litmus_${name}_r${ranks} LABELS ${labels} TIMEOUT 180 PROCESSORS 2
    COMMAND ${CMAKE_COMMAND} -E env ${setting} $<TARGET_FILE:viaduct-run> -n ${ranks} ${bind} --timeout 170
            $<TARGET_FILE:splitc_litmus> ${ARGN})
endfunction()
foreach(path auto direct rdma message)
  splitc_litmus_test(${path} 2 multiprocess VIADUCT_SPLITC_PATH=${path} --ms 20)
  splitc_litmus_test(${path} 4 multiprocess VIADUCT_SPLITC_PATH=${path} --ms 8)
  foreach(ranks 2 7)
    set(chosen "direct|7" "rdma|2" "message|7") # on one host `auto` takes `direct`
    viaduct_pairwise_label(label chosen "${path}|${ranks}")
    splitc_litmus_test(long_${path} ${ranks} "long;${label}" VIADUCT_SPLITC_PATH=${path} --ms 400)
  endforeach()
endforeach()
# Ranks as threads: what the thread sanitizer sees.
foreach(path auto rdma message)
  viaduct_add_script_test(
    NAME splitc_litmus_${path}_t2 LABELS multiprocess threads TIMEOUT 180 PROCESSORS 2
    COMMAND ${CMAKE_COMMAND} -E env VIADUCT_SPLITC_PATH=${path} $<TARGET_FILE:viaduct-run> -n 2 --mode threads
            --timeout 170 $<TARGET_FILE:splitc_litmus> --ms 2)
endforeach()
splitc_litmus_test(two_vis 2 multiprocess VIADUCT_SPLITC_VIS=2 --ms 10 store)
splitc_litmus_test(one_credit 4 multiprocess VIADUCT_SPLITC_CREDITS=1 --ms 10 store)

# Each fence earns its place: without it the tests must fail. What a program has itself is not taken from a library, so
# that only the file in which the fence stands is compiled without it.
function(splitc_litmus_program_without fence source)
  set(program splitc_litmus_without_${fence})
  viaduct_add_program(${program} UNCHECKED SOURCES ${source} LIBRARIES ${litmus_libraries})
  target_compile_definitions(${program} PRIVATE VIADUCT_DROP_FENCE=${fence})
  # The fewer stores lie between the write and the read, the more often the write is late.
  target_compile_options(${program} PRIVATE -O2)
  set_target_properties(${program} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON) # they were compiled without -O2
endfunction()
# splitc_litmus_without(FENCE SOURCE CASE): CASE is the one that must fail. By rdma no run has caught it, and on the message
# path there is nothing to catch (docs/memory-model.md).
function(splitc_litmus_without fence source case)
  splitc_litmus_program_without(${fence} ${source})
  foreach(path auto direct)
    viaduct_add_script_test(
      NAME splitc_litmus_without_${fence}_${path} LABELS stress TIMEOUT 240 PROCESSORS 2
      COMMAND ${here}/litmus_without.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:splitc_litmus_without_${fence}> ${case}
              ${path})
  endforeach()
endfunction()
splitc_litmus_without(write_fenced ${here}/litmus_word_cases.cpp store_buffering_fenced)
splitc_litmus_without(sync ${PROJECT_SOURCE_DIR}/splitc/src/sync.cpp sync_fence)
splitc_litmus_without(store_sync ${PROJECT_SOURCE_DIR}/splitc/src/store.cpp store_sync_fence)
splitc_litmus_without(call ${PROJECT_SOURCE_DIR}/splitc/src/atomic.cpp atomic_fence)

# The order of single loads and stores costs no instruction on x86, but the thread sanitizer goes by it.
if("thread" IN_LIST VIADUCT_SANITIZE)
  foreach(fence load store)
    splitc_litmus_program_without(${fence} ${here}/litmus_word_cases.cpp)
    viaduct_add_script_test(
      NAME splitc_litmus_without_${fence} LABELS threads TIMEOUT 240 PROCESSORS 2
      COMMAND ${here}/litmus_race.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:splitc_litmus_without_${fence}>
              message_passing_plain)
  endforeach()
endif()
