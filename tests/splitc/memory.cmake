# Memory by itself: who finds what of whom; forks; what happens when there is too little of something.
set(here "${CMAKE_CURRENT_LIST_DIR}")

viaduct_add_test(
  NAME splitc_memory SOURCES ${here}/memory_test.cpp LABELS multiprocess TIMEOUT 60
  RANKS 1 2 4 7 MODES processes threads LIBRARIES viaduct::splitc)

# The same, position-independent: each process has the program at an address of its own.
viaduct_add_program(splitc_memory_pie SOURCES ${here}/memory_test.cpp)
set_target_properties(splitc_memory_pie PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_link_libraries(splitc_memory_pie PRIVATE $<TARGET_FILE:viaduct_splitc> viaduct::viaduct)
target_link_options(splitc_memory_pie PRIVATE -pie)
add_dependencies(splitc_memory_pie viaduct_splitc)
if(NOT VIADUCT_SANITIZE)
  target_link_libraries(splitc_memory_pie PRIVATE mimalloc)
endif()

# splitc_memory_with(NAME PROGRAM RANKS VARIABLE=VALUE... [-- ARGUMENT...])
function(splitc_memory_with name program ranks)
  list(FIND ARGN -- separator)
  set(settings ${ARGN})
  set(arguments)
  if(NOT separator EQUAL -1)
    list(SUBLIST ARGN 0 ${separator} settings)
    list(SUBLIST ARGN ${separator} -1 arguments)
    list(POP_FRONT arguments)
  endif()
  viaduct_add_script_test(
    NAME splitc_memory_${name}_r${ranks} LABELS multiprocess TIMEOUT 60 PROCESSORS 2
    COMMAND ${CMAKE_COMMAND} -E env ${settings} $<TARGET_FILE:viaduct-run> -n ${ranks} --timeout 55
            $<TARGET_FILE:${program}> ${arguments})
endfunction()
foreach(ranks 1 2 4 7)
  splitc_memory_with(pie splitc_memory_pie ${ranks} VIADUCT_LOG=warn)
endforeach()
foreach(ranks 2 7)
  splitc_memory_with(private_heap splitc_memory ${ranks} VIADUCT_HEAP=private)
  splitc_memory_with(private_statics splitc_memory ${ranks} VIADUCT_LOG=warn -- private_statics)
  splitc_memory_with(elsewhere splitc_memory ${ranks} VIADUCT_SEGMENT_BASE=1025G)
endforeach()

# Forks. One rank does 1,000 of them.
if(NOT "thread" IN_LIST VIADUCT_SANITIZE)
  viaduct_add_program(splitc_memory_fork SOURCES ${here}/memory_fork.cpp LIBRARIES viaduct::splitc)
  splitc_memory_with(fork splitc_memory_fork 1 VIADUCT_LOG=warn -- 1000)
  foreach(ranks 2 7)
    splitc_memory_with(fork splitc_memory_fork ${ranks} VIADUCT_LOG=warn -- 100)
    splitc_memory_with(fork_private_heap splitc_memory_fork ${ranks} VIADUCT_HEAP=private -- 50)
  endforeach()
endif()
