# Pointers whose words have the place in them, and jobs that have none.
viaduct_add_program(splitc_aligned UNCHECKED SOURCES ${CMAKE_CURRENT_LIST_DIR}/aligned_test.cpp LIBRARIES viaduct::splitc)

# splitc_aligned(NAME RANKS HOW VARIABLE=VALUE...)
function(splitc_aligned name ranks how)
  viaduct_add_script_test(
    NAME splitc_aligned_${name}_r${ranks} LABELS multiprocess TIMEOUT 180 PROCESSORS 2
    COMMAND ${CMAKE_COMMAND} -E env ${ARGN} $<TARGET_FILE:viaduct-run> -n ${ranks} --timeout 170
            $<TARGET_FILE:splitc_aligned> ${how})
endfunction()
foreach(ranks 1 2 7)
  splitc_aligned(yes ${ranks} yes)
endforeach()
if(NOT VIADUCT_SANITIZE) # whose own memory lies there, and whose own handler of SIGSEGV speaks
  splitc_aligned(taken 3 taken)
  splitc_aligned(second_place 3 yes VIADUCT_SEGMENT_BASE=8192G)
  viaduct_add_script_test(
    NAME splitc_aligned_walk_out LABELS multiprocess TIMEOUT 180
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/aligned_walk_out.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:splitc_aligned>)
endif()
splitc_aligned(message 3 no VIADUCT_SPLITC_PATH=message)
splitc_aligned(large_regions 3 no VIADUCT_SPREAD_BYTES=4096G VIADUCT_SEGMENT_BASE=32768G)
splitc_aligned(many 65 no)
