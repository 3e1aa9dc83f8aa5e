# Memory by itself: who finds what of whom; forks; what happens when there is too little of something.
set(here "${CMAKE_CURRENT_LIST_DIR}")

viaduct_add_test(
  NAME splitc_memory SOURCES ${here}/memory_test.cpp LABELS multiprocess TIMEOUT 180
  RANKS 1 2 4 7 MODES processes threads LIBRARIES viaduct::splitc)

# The same, position-independent: each process has the program at an address of its own.
function(splitc_position_independent program)
  set_target_properties(${program} PROPERTIES POSITION_INDEPENDENT_CODE ON DISABLE_PRECOMPILE_HEADERS ON)
  target_link_libraries(${program} PRIVATE $<TARGET_FILE:viaduct_splitc> viaduct::viaduct)
  target_link_options(${program} PRIVATE -pie)
  add_dependencies(${program} viaduct_splitc)
  if(NOT VIADUCT_SANITIZE)
    target_link_libraries(${program} PRIVATE mimalloc)
  endif()
endfunction()
viaduct_add_program(splitc_memory_pie SOURCES ${here}/memory_test.cpp)
splitc_position_independent(splitc_memory_pie)

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
    NAME splitc_memory_${name}_r${ranks} LABELS multiprocess TIMEOUT 180 PROCESSORS 2
    COMMAND ${CMAKE_COMMAND} -E env ${settings} $<TARGET_FILE:viaduct-run> -n ${ranks} --timeout 170
            $<TARGET_FILE:${program}> ${arguments})
endfunction()
foreach(ranks 1 2 4 7)
  splitc_memory_with(pie splitc_memory_pie ${ranks} VIADUCT_LOG=warn)
endforeach()
foreach(ranks 2 7)
  splitc_memory_with(private_heap splitc_memory ${ranks} VIADUCT_HEAP=private)
  splitc_memory_with(private_statics splitc_memory ${ranks} VIADUCT_LOG=warn -- private_statics)
  splitc_memory_with(elsewhere splitc_memory ${ranks} VIADUCT_SEGMENT_BASE=81920G)
endforeach()

# The process' numbers where splitc_main does not run, in a program at a fixed address and in a position-independent one.
# The program forks: not under the thread sanitizer, as below.
if(NOT "thread" IN_LIST VIADUCT_SANITIZE)
  viaduct_add_program(splitc_numbers SOURCES ${here}/numbers_test.cpp LIBRARIES viaduct::splitc)
  splitc_memory_with(numbers splitc_numbers 3)
  viaduct_add_program(splitc_numbers_pie SOURCES ${here}/numbers_test.cpp)
  splitc_position_independent(splitc_numbers_pie)
  splitc_memory_with(numbers_pie splitc_numbers_pie 3)
endif()

# Threads that write to static data while it is moved.
splitc_memory_with(busy_threads splitc_memory 2 VIADUCT_LOG=warn -- busy_threads)

# Signals, threads that block them, and protected pages, at the move and at forks. The thread sanitizer's own thread
# keeps static data where it is.
if(NOT "thread" IN_LIST VIADUCT_SANITIZE)
  viaduct_add_program(splitc_memory_signals SOURCES ${here}/memory_signals.cpp LIBRARIES viaduct::splitc)
  foreach(what ticks forks blocks_a_while blocks_on urgent read_only protected)
    splitc_memory_with(signals_${what} splitc_memory_signals 2 VIADUCT_LOG=warn -- ${what})
  endforeach()
endif()

# Forks. One rank does 1,000 of them.
if(NOT "thread" IN_LIST VIADUCT_SANITIZE)
  viaduct_add_program(splitc_memory_fork SOURCES ${here}/memory_fork.cpp LIBRARIES viaduct::splitc)
  splitc_memory_with(fork splitc_memory_fork 1 VIADUCT_LOG=warn -- 1000)
  foreach(ranks 2 7)
    splitc_memory_with(fork splitc_memory_fork ${ranks} VIADUCT_LOG=warn -- 100)
    splitc_memory_with(fork_private_heap splitc_memory_fork ${ranks} VIADUCT_HEAP=private -- 50)
    viaduct_add_script_test(
      NAME splitc_memory_fork_t${ranks} LABELS multiprocess threads TIMEOUT 180 PROCESSORS 2
      COMMAND viaduct-run -n ${ranks} --mode threads --timeout 170 $<TARGET_FILE:splitc_memory_fork> 20)
  endforeach()
endif()

# Allocation as programs see it.
viaduct_add_test(
  NAME splitc_alloc UNCHECKED SOURCES ${here}/memory_alloc.cpp LABELS multiprocess TIMEOUT 180
  RANKS 1 2 4 7 MODES processes threads LIBRARIES viaduct::splitc)
foreach(ranks 1 2 7)
  splitc_memory_with(alloc_exhausted splitc_alloc ${ranks} VIADUCT_SPREAD_BYTES=1M -- exhausted)
  splitc_memory_with(alloc_by_message splitc_alloc ${ranks} VIADUCT_SPLITC_PATH=message)
endforeach()
# Who comes late to the call that ends the others is told of their loss.
function(splitc_alloc_wrong how words)
  set(chosen 2)
  foreach(ranks 2 7)
    viaduct_pairwise_label(label chosen ${ranks})
    viaduct_add_script_test(
      NAME splitc_alloc_wrong_${how}_r${ranks} LABELS multiprocess ${label} TIMEOUT 180 PROCESSORS 2
      COMMAND ${here}/collective_wrong.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:splitc_alloc> ${ranks} ${how}
              "\\[rank [0-9]+\\] .*(${words}|process [0-9]+ is lost)")
  endforeach()
endfunction()
splitc_alloc_wrong(other_size "all_malloc of 1[01] bytes in each process, but process [0-9]+ calls all_malloc of 1[01] bytes")
splitc_alloc_wrong(other_count "all_spread_malloc of [12] times 8 bytes.*, but process [0-9]+ calls all_spread_malloc of [12] times 8 bytes")
splitc_alloc_wrong(other_pointer "all_(spread_)?free of 0x.*, but process [0-9]+ calls all_(spread_)?free of")
splitc_alloc_wrong(diverged "all_malloc: answers 0x.* in one process and 0x.* in another")
foreach(how all_spread_free_inside all_spread_free_second all_spread_free_of_own all_spread_free_twice)
  splitc_alloc_wrong(${how} "all_spread_free: process [01], address 0x.* is not where .* pass what all_spread_malloc")
endforeach()
foreach(how all_free_inside all_free_of_heap)
  splitc_alloc_wrong(${how} "all_free: process 0, address 0x.* is not where .* pass what all_malloc answered")
endforeach()
foreach(how spread_free_inside spread_free_of_all spread_free_twice)
  splitc_alloc_wrong(${how} "spread_free: process 0, address 0x.* is not where .* pass what spread_malloc answered")
endforeach()

# Where address space is too short for the peers' memory messages take over.
if(NOT VIADUCT_SANITIZE)
  splitc_memory_with(alloc_vast splitc_alloc 2 VIADUCT_SPREAD_BYTES=16384G VIADUCT_SEGMENT_BASE=32768G -- vast)
  splitc_memory_with(short_of_address_space splitc_alloc 3 VIADUCT_SHM_WINDOW=64M VIADUCT_SPREAD_BYTES=256M
                     VIADUCT_HEAP_BYTES=256M sh -c "ulimit -v 1200000 && exec \"$@\"" sh)
  # In one process alone, so that the others offer it what it cannot copy.
  viaduct_add_program(splitc_unmapped_stores SOURCES ${here}/unmapped_stores_test.cpp LIBRARIES viaduct::splitc)
  foreach(ranks 2 3)
    viaduct_add_script_test(
      NAME splitc_memory_unmapped_stores_r${ranks} LABELS multiprocess TIMEOUT 60 PROCESSORS 2
      COMMAND ${CMAKE_COMMAND} -E env VIADUCT_SHM_WINDOW=64M VIADUCT_SPREAD_BYTES=256M VIADUCT_HEAP_BYTES=256M
              $<TARGET_FILE:viaduct-run> -n ${ranks} --timeout 50
              sh -c "if [ $VIADUCT_RANK = 1 ]$<SEMICOLON> then ulimit -v 1200000$<SEMICOLON> fi$<SEMICOLON> exec \"$@\"" sh $<TARGET_FILE:splitc_unmapped_stores>)
  endforeach()
endif()

# What is in the way of the region is named, with a place that is free. The program itself is at 4M.
if(NOT VIADUCT_SANITIZE)
  viaduct_add_script_test(
    NAME splitc_memory_in_the_way LABELS multiprocess TIMEOUT 180
    COMMAND ${here}/memory_refused.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:splitc_memory> VIADUCT_SEGMENT_BASE=4M
            "0x400000 to .*is taken by .*splitc_memory.*set VIADUCT_SEGMENT_BASE=64G")
endif()

# The heap's end, and children that use Split-C.
viaduct_add_program(splitc_heap SOURCES ${here}/memory_heap.cpp LIBRARIES viaduct::splitc)
foreach(ranks 1 2 7)
  if(NOT VIADUCT_SANITIZE)
    splitc_memory_with(heap_full splitc_heap ${ranks} VIADUCT_HEAP_BYTES=64M -- fill)
    splitc_memory_with(heap_throws splitc_heap ${ranks} VIADUCT_HEAP_BYTES=64M -- throw)
  endif()
  foreach(how child_reads child_waits)
    splitc_memory_with(${how} splitc_heap ${ranks} VIADUCT_LOG=warn -- ${how})
  endforeach()
endforeach()

# Static data that had to stay private: whoever uses it through a global pointer is told once, others are not.
viaduct_add_program(splitc_statics_warned SOURCES ${here}/statics_warned.cpp LIBRARIES viaduct::splitc)
foreach(pair 1:0 2:2 3:3)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 ranks)
  list(GET pair 1 warnings)
  viaduct_add_script_test(
    NAME splitc_statics_warned_r${ranks} LABELS multiprocess TIMEOUT 180
    COMMAND ${here}/statics_warned.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:splitc_statics_warned> ${ranks} ${warnings})
endforeach()
viaduct_add_script_test(
  NAME splitc_statics_not_warned_r2 LABELS multiprocess TIMEOUT 180
  COMMAND ${here}/statics_warned.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:splitc_statics_warned> 2 0 unused)
