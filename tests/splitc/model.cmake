# Every operation on every type in every kind of memory against a sequential model: every path and number of processes.
set(here "${CMAKE_CURRENT_LIST_DIR}")
viaduct_add_program(
  splitc_model
  SOURCES ${here}/model_test.cpp ${here}/model_memory.cpp ${here}/model_plan.cpp ${here}/model_run.cpp
          ${here}/model_contended.cpp ${here}/model_blocks.cpp
  LIBRARIES viaduct::splitc viaduct_program)

# splitc_model_test(NAME RANKS VARIABLE=VALUE... [-- ARGUMENT...])
function(splitc_model_test name ranks)
  list(FIND ARGN -- separator)
  set(settings ${ARGN})
  set(arguments)
  if(NOT separator EQUAL -1)
    list(SUBLIST ARGN 0 ${separator} settings)
    list(SUBLIST ARGN ${separator} -1 arguments)
    list(POP_FRONT arguments)
  endif()
  set(chosen "auto|1" "auto|2" "auto|16" "direct|3" "rdma|4" "message|2" "message|7" "two_vis|2" "two_vis_auto|7"
             "one_credit|2" "eight_credits|7" "one_block|2" "private_heap|7")
  viaduct_pairwise_label(label chosen "${name}|${ranks}")
  viaduct_add_script_test(
    NAME splitc_model_${name}_r${ranks} LABELS multiprocess ${label} TIMEOUT 240 PROCESSORS 2
    COMMAND ${CMAKE_COMMAND} -E env ${settings} $<TARGET_FILE:viaduct-run> -n ${ranks} --timeout 230
            $<TARGET_FILE:splitc_model> ${arguments})
endfunction()

foreach(ranks 1 2 3 4 7 16)
  set(less -- --phases 10)
  if(ranks EQUAL 1)
    set(less -- --phases 16)
  endif()
  if(ranks GREATER 4)
    set(less -- --phases 6 --ops 50)
  endif()
  foreach(path auto direct rdma message)
    splitc_model_test(${path} ${ranks} VIADUCT_SPLITC_PATH=${path} ${less})
  endforeach()
endforeach()
# Ranks as threads: what the thread sanitizer sees.
foreach(path auto rdma message)
  foreach(ranks 2 4)
    set(chosen "auto|2" "rdma|4" "message|2")
    viaduct_pairwise_label(label chosen "${path}|${ranks}")
    viaduct_add_script_test(
      NAME splitc_model_${path}_t${ranks} LABELS multiprocess threads ${label} TIMEOUT 240 PROCESSORS 2
      COMMAND ${CMAKE_COMMAND} -E env VIADUCT_SPLITC_PATH=${path} $<TARGET_FILE:viaduct-run> -n ${ranks} --mode threads
              --timeout 230 $<TARGET_FILE:splitc_model> --phases 5 --ops 60)
  endforeach()
endforeach()
foreach(ranks 2 7)
  set(less -- --phases 6 --ops 60)
  splitc_model_test(two_vis ${ranks} VIADUCT_SPLITC_PATH=message VIADUCT_SPLITC_VIS=2 ${less})
  splitc_model_test(two_vis_auto ${ranks} VIADUCT_SPLITC_VIS=2 ${less})
  splitc_model_test(one_credit ${ranks} VIADUCT_SPLITC_PATH=message VIADUCT_SPLITC_CREDITS=1 ${less})
  splitc_model_test(eight_credits ${ranks} VIADUCT_SPLITC_PATH=message VIADUCT_SPLITC_CREDITS=8 ${less})
  splitc_model_test(one_block ${ranks} VIADUCT_SPLITC_PATH=message VIADUCT_SPLITC_STAGING=4096 ${less})
  splitc_model_test(private_heap ${ranks} VIADUCT_HEAP=private ${less})
endforeach()
foreach(path auto rdma message)
  set(chosen message) # most of all code
  viaduct_pairwise_label(label chosen ${path})
  viaduct_add_script_test(
    NAME splitc_model_long_${path}_r7 LABELS long ${label} TIMEOUT 300 PROCESSORS 2
    COMMAND ${CMAKE_COMMAND} -E env VIADUCT_SPLITC_PATH=${path} $<TARGET_FILE:viaduct-run> -n 7 --timeout 290
            $<TARGET_FILE:splitc_model> --phases 300)
endforeach()
