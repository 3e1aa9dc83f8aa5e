# Collectives: against a model in one process; calls that do not fit; processes that are lost.
set(here "${CMAKE_CURRENT_LIST_DIR}")
set(check "${PROJECT_SOURCE_DIR}/tests/conformance/check.cpp")

viaduct_add_test(
  NAME splitc_collective_test
  SOURCES ${here}/collective_test.cpp ${check}
  LIBRARIES viaduct::splitc
  LABELS multiprocess
  RANKS 1 2 3 4 5 7 8 16
  PRODUCT r3 r5 r8
  TIMEOUT 240)
# Ranks that are threads, for the thread sanitizer.
foreach(ranks 2 3 7)
  viaduct_add_script_test(
    NAME splitc_collective_test_t${ranks} LABELS multiprocess threads TIMEOUT 240 PROCESSORS 2
    COMMAND viaduct-run -n ${ranks} --mode threads --timeout 230 $<TARGET_FILE:splitc_collective_test>)
endforeach()
# Lines that travel as messages.
foreach(ranks 2 3 7)
  viaduct_add_script_test(
    NAME splitc_collective_test_by_message_r${ranks} LABELS multiprocess TIMEOUT 240 PROCESSORS 2
    COMMAND ${CMAKE_COMMAND} -E env VIADUCT_SPLITC_PATH=message $<TARGET_FILE:viaduct-run> -n ${ranks} --timeout 230
            $<TARGET_FILE:splitc_collective_test>)
endforeach()

# More calls than there are short numbers for.
foreach(ranks 2 3)
  viaduct_add_script_test(
    NAME splitc_collective_old_lines_r${ranks} LABELS stress TIMEOUT 180 PROCESSORS 2
    COMMAND $<TARGET_FILE:viaduct-run> -n ${ranks} --timeout 170 $<TARGET_FILE:splitc_collective_test> old_lines)
endforeach()

# Calls that do not fit are found, and both are named. collective_wrong(HOW RANKS WORDS)
viaduct_add_program(splitc_collective_wrong SOURCES ${here}/collective_wrong.cpp LIBRARIES viaduct::splitc)
function(collective_wrong how words)
  set(chosen 2 off_node)
  foreach(ranks 2 5)
    viaduct_pairwise_label(label chosen ${ranks})
    viaduct_add_script_test(
      NAME splitc_collective_wrong_${how}_r${ranks} LABELS multiprocess ${label} TIMEOUT 180 PROCESSORS 2
      COMMAND ${here}/collective_wrong.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:splitc_collective_wrong> ${ranks}
              ${how} "${words}")
  endforeach()
  foreach(way by_message:VIADUCT_SPLITC_PATH=message off_node:VIADUCT_SPLITC_OFF_NODE=yes)
    string(REPLACE ":" ";" way ${way})
    list(GET way 0 name)
    list(GET way 1 setting)
    viaduct_pairwise_label(label chosen ${name})
    viaduct_add_script_test(
      NAME splitc_collective_wrong_${how}_${name} LABELS multiprocess ${label} TIMEOUT 180 PROCESSORS 2
      COMMAND ${CMAKE_COMMAND} -E env ${setting} ${here}/collective_wrong.sh $<TARGET_FILE:viaduct-run>
              $<TARGET_FILE:splitc_collective_wrong> 3 ${how} "${words}")
  endforeach()
endfunction()
# A checked program also says where its calls stand.
set(place "( at [^,]*collective_wrong.cpp:[0-9]+)?")
function(collective_mismatch how one other)
  collective_wrong(
    ${how} "\\[rank [0-9]+\\] .*this process calls (${one}${place}, but process [0-9]+ calls ${other}|${other}${place}, but process [0-9]+ calls ${one})${place}: every process must")
endfunction()
set(int "4-byte signed integer")
collective_mismatch(kind barrier "all_reduce of a ${int} with Add")
collective_mismatch(operator "all_reduce of a ${int} with Add" "all_reduce of a ${int} with Max")
collective_mismatch(type "all_reduce of a ${int} with Add" "all_reduce of a 8-byte floating-point number with Add")
collective_mismatch(sign "all_reduce of a ${int} with Add" "all_reduce of a 4-byte unsigned integer with Add")
collective_wrong(other_operator "process [0-9]+ too${place}, but with another type or operator")
collective_mismatch(bcast_root "all_bcast of 1 times a ${int} from process 0"
                    "all_bcast of 1 times a ${int} from process [1-9]")
collective_mismatch(reduce_root "all_reduce_to_one of a ${int} with Add to process 0"
                    "all_reduce_to_one of a ${int} with Add to process [1-9]")
collective_mismatch(count "all_bcast of 100 times a ${int} from process 0"
                    "all_bcast of 99 times a ${int} from process 0")
collective_mismatch(array_count "all_reduce of 100 times a ${int} with Add" "all_reduce of 10 times a ${int} with Add")
collective_mismatch(gather "all_gather of a ${int}" "all_gather_to_one of a ${int} to process 0")
collective_mismatch(scan "all_scan of a ${int} with Add" "all_scan_before of a ${int} with Add")
collective_mismatch(store_sync barrier all_store_sync)
collective_mismatch(force_path barrier force_path)
collective_wrong(end "calls (barrier${place}, but process [0-9]+ calls nothing more|nothing more .*, but process [0-9]+ calls barrier)")
foreach(bcast end_short_bcast end_long_bcast)
  collective_wrong(${bcast} "calls (all_bcast [^,]*, but process [0-9]+ calls nothing more|nothing more .*, but process [0-9]+ calls (barrier|all_bcast))")
endforeach()
set(bcast_of_one "all_bcast of 1 times a ${int} from process")
collective_mismatch(end_roots "${bcast_of_one} [0-9]" "${bcast_of_one} [0-9]")
collective_mismatch(end_more "${bcast_of_one} [0-9]" "nothing more .it has returned from splitc_main.")
collective_mismatch(end_gather "all_gather_to_one of a ${int} to process 0" "nothing more .it has returned from splitc_main.")
collective_wrong(in_split "all_reduce: called between barrier_notify.. and barrier_wait")
collective_wrong(notify_twice "barrier: called between barrier_notify.. and barrier_wait|calls barrier${place}, but")
collective_wrong(wait_alone "barrier_wait: called without")
collective_wrong(try_alone "barrier_try: called without")
collective_wrong(no_such_root "all_bcast: there is no process [0-9], which is to be the root")
collective_wrong(negative_root "all_reduce_to_one: there is no process -1, which is to be the root")

# A process is lost: the others get an Error that names it.
viaduct_add_program(splitc_collective_lost SOURCES ${here}/collective_lost.cpp LIBRARIES viaduct::splitc)
set(chosen 4 off_node)
foreach(how before while_others_sleep in_barrier in_split in_bcast in_reduce holding_lock failed_in_stores)
  set(code 137)
  if(how STREQUAL failed_in_stores)
    set(code 1)
  endif()
  foreach(ranks 2 4 7)
    viaduct_pairwise_label(label chosen ${ranks})
    viaduct_add_script_test(
      NAME splitc_collective_lost_${how}_r${ranks} LABELS multiprocess fault ${label} TIMEOUT 180
      COMMAND ${PROJECT_SOURCE_DIR}/tests/multiprocess/am_peer_lost.sh $<TARGET_FILE:viaduct-run>
              $<TARGET_FILE:splitc_collective_lost> ${ranks} ${how} ${code})
  endforeach()
  foreach(way by_message:VIADUCT_SPLITC_PATH=message off_node:VIADUCT_SPLITC_OFF_NODE=yes)
    string(REPLACE ":" ";" way ${way})
    list(GET way 0 name)
    list(GET way 1 setting)
    viaduct_pairwise_label(label chosen ${name})
    viaduct_add_script_test(
      NAME splitc_collective_lost_${how}_${name} LABELS multiprocess fault ${label} TIMEOUT 180
      COMMAND ${CMAKE_COMMAND} -E env ${setting} ${PROJECT_SOURCE_DIR}/tests/multiprocess/am_peer_lost.sh
              $<TARGET_FILE:viaduct-run> $<TARGET_FILE:splitc_collective_lost> 3 ${how} ${code})
  endforeach()
endforeach()
