# Processes that share no memory (docs/splitc.md), on one host: their messages go over shm. Links between hosts are
# tested in tests/verbs-vm/splitc.cmake.

# splitc_off_node_test(NAME PROGRAM [RANKS N...] [THREADS N...] [WITH VARIABLE=VALUE...] [ARGS ARGUMENT...])
function(splitc_off_node_test name program)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "RANKS;THREADS;WITH;ARGS")
  foreach(ranks ${arg_RANKS})
    viaduct_add_script_test(
      NAME splitc_off_node_${name}_r${ranks} LABELS multiprocess TIMEOUT 240 PROCESSORS 2
      COMMAND ${CMAKE_COMMAND} -E env VIADUCT_SPLITC_OFF_NODE=yes ${arg_WITH} $<TARGET_FILE:viaduct-run> -n ${ranks}
              --timeout 230 ${program} ${arg_ARGS})
  endforeach()
  foreach(ranks ${arg_THREADS})
    viaduct_add_script_test(
      NAME splitc_off_node_${name}_t${ranks} LABELS multiprocess threads TIMEOUT 240 PROCESSORS 2
      COMMAND ${CMAKE_COMMAND} -E env VIADUCT_SPLITC_OFF_NODE=yes ${arg_WITH} $<TARGET_FILE:viaduct-run> -n ${ranks}
              --mode threads --timeout 230 ${program} ${arg_ARGS})
  endforeach()
endfunction()

set(model $<TARGET_FILE:splitc_model> ARGS --phases 6 --ops 60)
splitc_off_node_test(model ${model} RANKS 2 3 7 THREADS 2 4)
splitc_off_node_test(model_two_vis ${model} RANKS 3 WITH VIADUCT_SPLITC_VIS=2)
splitc_off_node_test(model_one_credit ${model} RANKS 3 WITH VIADUCT_SPLITC_CREDITS=1)
splitc_off_node_test(model_one_block ${model} RANKS 3 WITH VIADUCT_SPLITC_STAGING=4096)
splitc_off_node_test(model_rdma ${model} RANKS 3 WITH VIADUCT_SPLITC_PATH=rdma)
splitc_off_node_test(collective $<TARGET_FILE:splitc_collective_test> RANKS 2 3 7 THREADS 3)
splitc_off_node_test(sizes $<TARGET_FILE:splitc_sizes> RANKS 2 3)
splitc_off_node_test(litmus $<TARGET_FILE:splitc_litmus> RANKS 2 4 THREADS 2 ARGS --ms 5)
splitc_off_node_test(atomic_put $<TARGET_FILE:splitc_atomic_put_test> RANKS 2 3 THREADS 2)
splitc_off_node_test(alloc $<TARGET_FILE:splitc_alloc> RANKS 2 7)
splitc_off_node_test(with_am $<TARGET_FILE:splitc_with_am> RANKS 3 THREADS 2)
if(TARGET splitcc)
  foreach(program many blocks corners)
    splitc_off_node_test(splitcc_${program} "${CMAKE_BINARY_DIR}/tests/bin/splitc_${program}" RANKS 2 4)
  endforeach()
endif()
