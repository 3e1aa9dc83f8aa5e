# What is wrong ends with a sentence that names the rank, the operation and the remedy.
set(here "${CMAKE_CURRENT_LIST_DIR}")
viaduct_add_program(splitc_misuse SOURCES ${here}/misuse.cpp LIBRARIES viaduct::splitc)
viaduct_add_program(splitc_misuse_outside SOURCES ${here}/misuse_outside.cpp LIBRARIES viaduct::splitc)

# splitc_misuse_test(NAME RANKS PROGRAM CODE WORDS [VARIABLE=VALUE...] -- ARGUMENT...)
function(splitc_misuse_test name ranks program code words)
  viaduct_add_script_test(
    NAME splitc_misuse_${name}_r${ranks} LABELS multiprocess TIMEOUT 40
    COMMAND ${here}/misuse.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:${program}> ${ranks} ${code} ${words} ${ARGN})
endfunction()
function(splitc_stops how words)
  splitc_misuse_test(${how} 2 splitc_misuse 134 ${words} ${ARGN} -- ${how})
endfunction()

# Pointers. A value that is larger than a message is a block; a store that is immediate is a put; a lock is a word.
foreach(operation read write get put store bulk_read bulk_write bulk_get bulk_put bulk_store fetch_add swap compare_swap)
  splitc_stops(null_${operation} "rank 0. ${operation}: the global pointer is null: give it an object")
endforeach()
splitc_stops(null_store_now "rank 0. put: the global pointer is null")
splitc_stops(null_assign "rank 0. write: the global pointer is null")
splitc_stops(null_lock "rank 0. compare_swap: the global pointer is null")
splitc_stops(null_struct "rank 0. .*: the global pointer is null")
foreach(operation read write get put store bulk_read bulk_store fetch_add atomic)
  splitc_stops(nobody_${operation} "rank 0. ${operation}: .* process 7, but the job has the processes 0 to 1")
endforeach()
splitc_stops(negative_read "rank 0. read: .* process 65535, but the job has the processes 0 to 1")
foreach(pair read:read write:write get:read put:write store:store bulk_read:bulk.read bulk_write:bulk.write
             bulk_store:bulk.store fetch_add:read-modify-write)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 operation)
  list(GET pair 1 served)
  splitc_stops(nowhere_${operation} "rank 1. ${served}: process 0 names .* of process 1, where there is no memory")
endforeach()
foreach(path direct rdma message)
  splitc_misuse_test(null_read_${path} 7 splitc_misuse 134 "rank 0. read: the global pointer is null"
                     VIADUCT_SPLITC_PATH=${path} -- null_read)
  splitc_misuse_test(nowhere_write_${path} 7 splitc_misuse 134 "rank 1. write: process 0 names 4 bytes at 0x10000"
                     VIADUCT_SPLITC_PATH=${path} -- nowhere_write)
endforeach()

# Functions that run for another process.
foreach(operation read write sync barrier store atomic poll bulk_get all_malloc reduce lock)
  splitc_stops(${operation}_in_function
               "rank 1. .*: called by a function that runs for another process .atomic.: it may use local memory only")
endforeach()

# Memory.
foreach(how free_of_local free_of_middle free_twice)
  splitc_stops(${how} "all_free: .* is not where an array begins that is allocated: pass what all_malloc answered, once")
endforeach()
foreach(how spread_free_of_middle spread_free_of_heap)
  splitc_stops(${how} "all_spread_free: .* pass what all_spread_malloc answered, once")
endforeach()
splitc_stops(own_free_twice "rank 0. spread_free: .* pass what spread_malloc answered, once")
splitc_stops(free_as_own "spread_free: .* pass what spread_malloc answered, once")
splitc_stops(unlock_of_free "rank 0. unlock: this process does not hold the lock")
splitc_stops(unlock_of_anothers "rank 1. unlock: this process does not hold the lock")
foreach(pair exhaust_all_malloc:all_malloc exhaust_all_spread_malloc:all_spread_malloc
             exhaust_spread_malloc:spread_malloc overflow_all_malloc:all_malloc
             overflow_all_spread_malloc:all_spread_malloc)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 how)
  list(GET pair 1 operation)
  splitc_misuse_test(${how} 2 splitc_misuse 1 "rank [01]. ${operation}: .* raise VIADUCT_SPREAD_BYTES" -- ${how})
endforeach()
splitc_misuse_test(exhaust_bit_by_bit 4 splitc_misuse 1 "rank [0-3]. all_malloc: .* raise VIADUCT_SPREAD_BYTES"
                   VIADUCT_SPREAD_BYTES=64M -- exhaust_bit_by_bit)

# Before Split-C begins and after it has ended.
foreach(operation read write get put store store_sync all_store_sync sync barrier poll bulk_read bulk_store fetch_add
                  all_malloc all_reduce toglobal lock)
  foreach(when before after)
    splitc_misuse_test(${when}_${operation} 2 splitc_misuse_outside 134 "called outside splitc_main" -- ${when}
                       ${operation})
  endforeach()
endforeach()
