# Stores that are counted on counters of the target: a few rounds on every path, and 1,000 rounds.
viaduct_add_program(splitc_neighbours SOURCES ${CMAKE_CURRENT_LIST_DIR}/neighbours_test.cpp LIBRARIES viaduct::splitc)

# splitc_neighbours(NAME RANKS ROUNDS LABEL VARIABLE=VALUE...)
function(splitc_neighbours name ranks rounds label)
  viaduct_add_script_test(
    NAME splitc_neighbours_${name}_r${ranks} LABELS multiprocess ${label} TIMEOUT 300 PROCESSORS 2
    COMMAND ${CMAKE_COMMAND} -E env ${ARGN} $<TARGET_FILE:viaduct-run> -n ${ranks} --timeout 290
            $<TARGET_FILE:splitc_neighbours> ${rounds})
endfunction()
splitc_neighbours(auto 1 5 "")
splitc_neighbours(auto 2 5 "")
splitc_neighbours(auto 4 10 "")
splitc_neighbours(message 3 5 "" VIADUCT_SPLITC_PATH=message)
# So many that a barrier by messages does not connect all of them.
splitc_neighbours(message 12 1 "" VIADUCT_SPLITC_PATH=message)
splitc_neighbours(far 3 5 "" VIADUCT_SPLITC_OFF_NODE=yes)
foreach(ranks 3 4 7)
  set(chosen 3 7)
  viaduct_pairwise_label(label chosen ${ranks})
  splitc_neighbours(thousand ${ranks} 1000 "long;${label}")
  splitc_neighbours(thousand_message ${ranks} 1000 "long;${label}" VIADUCT_SPLITC_PATH=message)
endforeach()
viaduct_add_script_test(
  NAME splitc_neighbours_t3 LABELS multiprocess threads TIMEOUT 180 PROCESSORS 2
  COMMAND viaduct-run -n 3 --mode threads --timeout 170 $<TARGET_FILE:splitc_neighbours> 5)
