# Structures of 1 to 100 bytes, by every operation and on every path.
viaduct_add_program(splitc_sizes SOURCES ${CMAKE_CURRENT_LIST_DIR}/sizes_test.cpp LIBRARIES viaduct::splitc)
foreach(path auto direct rdma message)
  foreach(ranks 1 2 3 4 7 16)
    set(chosen "auto|1" "auto|4" "direct|3" "rdma|2" "message|2" "message|3")
    viaduct_pairwise_label(label chosen "${path}|${ranks}")
    set(labels multiprocess ${label})
    if(ranks GREATER 4)
      set(labels stress)
    endif()
    viaduct_add_script_test(
      NAME splitc_sizes_${path}_r${ranks} LABELS ${labels} TIMEOUT 240 PROCESSORS 2
      COMMAND ${CMAKE_COMMAND} -E env VIADUCT_SPLITC_PATH=${path} $<TARGET_FILE:viaduct-run> -n ${ranks} --timeout 230
              $<TARGET_FILE:splitc_sizes>)
  endforeach()
endforeach()
# Where no process reaches another one's private memory, path rdma carries everything by message.
set(run $<TARGET_FILE:viaduct-run> -n 2 --timeout 110 $<TARGET_FILE:splitc_sizes>)
viaduct_add_script_test(
  NAME splitc_sizes_rdma_no_cross_memory LABELS multiprocess TIMEOUT 120 PROCESSORS 2
  COMMAND ${CMAKE_COMMAND} -E env VIADUCT_SPLITC_PATH=rdma VIADUCT_CROSS_MEMORY=no ${run})
viaduct_add_script_test(
  NAME splitc_sizes_rdma_refused LABELS multiprocess TIMEOUT 120 PROCESSORS 2
  COMMAND ${CMAKE_COMMAND} -E env VIADUCT_SPLITC_PATH=rdma $<TARGET_FILE:without_syscalls>
          process_vm_readv,process_vm_writev ${run})
