# What is wrong ends with a sentence that names the rank, the operation and the remedy.
set(here "${CMAKE_CURRENT_LIST_DIR}")
viaduct_add_program(
  splitc_misuse SOURCES ${here}/misuse.cpp ${here}/misuse_pointers.cpp ${here}/misuse_functions.cpp
                        ${here}/misuse_memory.cpp LIBRARIES viaduct::splitc)
viaduct_add_program(splitc_misuse_outside SOURCES ${here}/misuse_outside.cpp LIBRARIES viaduct::splitc)

# splitc_misuse_test(NAME RANKS PROGRAM CODE WORDS [VARIABLE=VALUE...] -- ARGUMENT...)
function(splitc_misuse_test name ranks program code words)
  viaduct_add_script_test(
    NAME splitc_misuse_${name}_r${ranks} LABELS multiprocess ${misuse_label} TIMEOUT 180
    COMMAND ${here}/misuse.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:${program}> ${ranks} ${code} ${words} ${ARGN})
endfunction()
# splitc_misuses(NAME RANKS LABELS LIST [VARIABLE=VALUE...]): LIST=all, or --usual: some of each kind.
function(splitc_misuses name ranks labels list)
  viaduct_add_script_test(
    NAME splitc_misuse_${name}_r${ranks} LABELS ${labels} TIMEOUT 180
    COMMAND ${here}/misuse.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:splitc_misuse> ${ranks} --each "${list}" ${ARGN} --)
endfunction()
# Under a sanitizer some of each kind: what the sentence of another case of the kind says, the other presets look at.
if(VIADUCT_SANITIZE)
  splitc_misuses(some 2 multiprocess --usual)
else()
  splitc_misuses(all 2 multiprocess all)
endif()
foreach(ranks 1 2 3)
  foreach(path auto direct rdma message)
    set(chosen "auto|1" "direct|3" "rdma|2" "message|2")
    viaduct_pairwise_label(label chosen "${path}|${ranks}")
    splitc_misuses(usual_${path} ${ranks} "multiprocess;${label}" --usual VIADUCT_SPLITC_PATH=${path})
    set(chosen "direct|3" "message|2") # dev has all of them on the path of every day
    viaduct_pairwise_label(label chosen "${path}|${ranks}")
    splitc_misuses(each_${path} ${ranks} "long;${label}" all VIADUCT_SPLITC_PATH=${path})
  endforeach()
endforeach()
splitc_misuses(usual_two_vis 2 multiprocess --usual VIADUCT_SPLITC_PATH=message VIADUCT_SPLITC_VIS=2)
splitc_misuses(usual_off_node 3 multiprocess --usual VIADUCT_SPLITC_OFF_NODE=yes)
splitc_misuses(each_off_node 2 long all VIADUCT_SPLITC_OFF_NODE=yes)
splitc_misuses(usual_private_heap 2 multiprocess --usual VIADUCT_HEAP=private)

# Memory, bit by bit.
foreach(ranks 1 2 3)
  foreach(how all_malloc all_spread_malloc spread_malloc)
    splitc_misuse_test(exhaust_${how} ${ranks} splitc_misuse_outside 1 "rank [0-3]. error: ${how}: .* raise VIADUCT_SPREAD_BYTES"
                       VIADUCT_SPREAD_BYTES=64M -- inside exhaust_${how})
  endforeach()
endforeach()

foreach(ranks 1 2)
  splitc_misuse_test(child ${ranks} splitc_misuse_outside 21 "write: called in a child that the process forked" -- child write)
  splitc_misuse_test(child_store ${ranks} splitc_misuse_outside 21 "store: called in a child that the process forked" -- child store)
endforeach()

# Before Split-C begins, after it has ended, and in another thread: preset dev takes each operation once.
set(whens before after thread)
set(turn 0)
foreach(operation read write get put store store_sync all_store_sync sync barrier poll bulk_read bulk_store fetch_add
                  all_malloc all_reduce toglobal lock atomic)
  list(GET whens ${turn} chosen)
  math(EXPR turn "(${turn} + 1) % 3")
  foreach(when ${whens})
    viaduct_pairwise_label(misuse_label chosen ${when})
    splitc_misuse_test(
      ${when}_${operation} 2 splitc_misuse_outside 134
      "^viaduct: .rank [01]. ${operation}: called outside splitc_main: Split-C begins .* the thread that runs it"
      -- ${when} ${operation})
  endforeach()
endforeach()
