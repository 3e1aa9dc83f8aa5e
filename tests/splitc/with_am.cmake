# Active Messages and Split-C in one program.
viaduct_add_test(
  NAME splitc_with_am SOURCES ${CMAKE_CURRENT_LIST_DIR}/with_am.cpp LABELS multiprocess TIMEOUT 180
  RANKS 1 2 3 7 MODES processes threads LIBRARIES viaduct::splitc)
foreach(path direct rdma message)
  viaduct_add_script_test(
    NAME splitc_with_am_${path}_r4 LABELS multiprocess TIMEOUT 180 PROCESSORS 2
    COMMAND ${CMAKE_COMMAND} -E env VIADUCT_SPLITC_PATH=${path} $<TARGET_FILE:viaduct-run> -n 4 --timeout 170
            $<TARGET_FILE:splitc_with_am>)
endforeach()
