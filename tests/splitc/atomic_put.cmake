# Functions at the owner that nobody waits for.
set(here "${CMAKE_CURRENT_LIST_DIR}")
viaduct_add_program(splitc_atomic_put_test SOURCES ${here}/atomic_put_test.cpp LIBRARIES viaduct::splitc)
viaduct_add_program(splitc_atomic_put_wrong SOURCES ${here}/atomic_put_wrong.cpp LIBRARIES viaduct::splitc)

# splitc_atomic_put_test(NAME RANKS VARIABLE=VALUE...)
function(splitc_atomic_put_test name ranks)
  # Of the paths and numbers of processes each stands at least once; scarce things need two processes.
  set(chosen "auto|1" "auto|16" "direct|3" "rdma|2" "message|2" "message|7" "one_credit|5" "eight_slots|5" "many_slots|2"
             "two_vis|5" "private_heap|2")
  viaduct_pairwise_label(label chosen "${name}|${ranks}")
  viaduct_add_script_test(
    NAME splitc_atomic_put_${name}_r${ranks} LABELS multiprocess ${label} TIMEOUT 180 PROCESSORS 2
    COMMAND ${CMAKE_COMMAND} -E env ${ARGN} $<TARGET_FILE:viaduct-run> -n ${ranks} --timeout 170
            $<TARGET_FILE:splitc_atomic_put_test>)
endfunction()
foreach(path auto direct rdma message)
  foreach(ranks 1 2 3 7 16)
    splitc_atomic_put_test(${path} ${ranks} VIADUCT_SPLITC_PATH=${path})
  endforeach()
endforeach()
foreach(ranks 2 5)
  splitc_atomic_put_test(one_credit ${ranks} VIADUCT_SPLITC_CREDITS=1)
  splitc_atomic_put_test(eight_slots ${ranks} VIADUCT_SPLITC_SLOTS=8)
  splitc_atomic_put_test(many_slots ${ranks} VIADUCT_SPLITC_SLOTS=4096)
  splitc_atomic_put_test(two_vis ${ranks} VIADUCT_SPLITC_VIS=2 VIADUCT_SPLITC_PATH=message)
  splitc_atomic_put_test(private_heap ${ranks} VIADUCT_HEAP=private)
endforeach()
foreach(ranks 2 4)
  viaduct_add_script_test(
    NAME splitc_atomic_put_t${ranks} LABELS multiprocess threads TIMEOUT 180 PROCESSORS 2
    COMMAND viaduct-run -n ${ranks} --mode threads --timeout 170 $<TARGET_FILE:splitc_atomic_put_test>)
endforeach()

# splitc_atomic_put_stops(HOW WORDS): as the first call to that process, and as a later one; here, and elsewhere.
function(splitc_atomic_put_stops how words)
  set(chosen "1|later" "2|later" "3|first")
  foreach(ranks 1 2 3)
    foreach(when first later)
      viaduct_pairwise_label(label chosen "${ranks}|${when}")
      viaduct_add_script_test(
        NAME splitc_atomic_put_wrong_${how}_${when}_r${ranks} LABELS multiprocess ${label} TIMEOUT 180
        COMMAND ${here}/misuse.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:splitc_atomic_put_wrong> ${ranks} 134
                ${words} -- ${how} ${when})
    endforeach()
  endforeach()
endfunction()
splitc_atomic_put_stops(null "rank 0. atomic_put: the global pointer is null: give it an object")
splitc_atomic_put_stops(nobody "rank 0. atomic_put: the call names process [0-9]+, but the job has the processes 0 to")
splitc_atomic_put_stops(negative "rank 0. atomic_put: the call names process -1, but the job has the processes 0 to")
foreach(operation write store sync barrier poll atomic_put)
  splitc_atomic_put_stops(${operation}
                          "rank [0-2]. .*: called by a function that atomic.. runs: it may use local memory only")
endforeach()
splitc_atomic_put_stops(throw "the function that process 0 runs in process [0-2] threw: the cupboard is bare")
