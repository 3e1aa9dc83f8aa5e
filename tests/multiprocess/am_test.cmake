# Active Messages: one program of cases that runs in every mode, and programs in which a rank must die.
set(here "${CMAKE_CURRENT_SOURCE_DIR}")
viaduct_glob(am_cases tests/multiprocess/am_*_cases.cpp)

viaduct_add_test(
  NAME am_test
  SOURCES am_test.cpp am_rig.cpp ${am_cases} ${PROJECT_SOURCE_DIR}/tests/conformance/check.cpp
  LABELS multiprocess
  RANKS 1 2 4 7
  MODES processes threads
  PRODUCT r7 t1 t2 t7
  TIMEOUT 180)

# The same cases where credits, slots or memory are scarce. am_test_with(NAME RANKS VARIABLE=VALUE CASES...)
function(am_test_with name ranks setting)
  set(product one_credit|7 eight_slots|7)
  set(label)
  if("${name}|${ranks}" IN_LIST product)
    set(label long product)
  endif()
  viaduct_add_script_test(
    NAME am_test_${name}_r${ranks} LABELS multiprocess ${label} TIMEOUT 180 PROCESSORS 2
    COMMAND ${CMAKE_COMMAND} -E env ${setting} $<TARGET_FILE:viaduct-run> -n ${ranks} --timeout 170
            $<TARGET_FILE:am_test> ${ARGN})
endfunction()
foreach(ranks 3 7)
  am_test_with(one_credit ${ranks} VIADUCT_AM_CREDITS=1)
  am_test_with(eight_slots ${ranks} VIADUCT_AM_SLOTS=8)
endforeach()
am_test_with(one_credit_all_to_one 64 VIADUCT_AM_CREDITS=1 all_to_one)
am_test_with(large_ring 2 VIADUCT_AM_SLOTS=1024)
am_test_with(poll_every_1 4 VIADUCT_AM_POLL_EVERY=1)
am_test_with(no_cross_memory 2 VIADUCT_CROSS_MEMORY=no bulk)

viaduct_add_script_test(
  NAME am_settings LABELS multiprocess TIMEOUT 240 PROCESSORS 2
  COMMAND ${here}/am_settings.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:am_test>)

# A violation stops the program with a sentence that names the handler.
viaduct_add_program(am_violation SOURCES am_violation.cpp LIBRARIES ${CMAKE_DL_LIBS})
add_library(am_violation_library MODULE am_violation_library.cpp)
viaduct_target_options(am_violation_library)
target_include_directories(am_violation_library PRIVATE ${VIADUCT_INCLUDE_DIRECTORIES})
set_target_properties(am_violation PROPERTIES ENABLE_EXPORTS ON)
target_compile_definitions(am_violation PRIVATE
  VIADUCT_TEST_LATE_LIBRARY="$<TARGET_FILE:am_violation_library>")
add_dependencies(am_violation am_violation_library)
function(am_violation how words)
  cmake_parse_arguments(arg "" "" "RANKS" ${ARGN})
  if(NOT arg_RANKS)
    set(arg_RANKS 1 2)
  endif()
  list(GET arg_RANKS -1 chosen)
  foreach(ranks ${arg_RANKS})
    viaduct_pairwise_label(label chosen ${ranks})
    viaduct_add_script_test(
      NAME am_violation_${how}_r${ranks} LABELS multiprocess ${label} TIMEOUT 180
      COMMAND ${here}/am_violation.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:am_violation> ${ranks} ${how} ${words})
  endforeach()
endfunction()
set(in_request "while handler [^ =]*( namespace.::)?on_guilty was running: a request handler may only reply")
foreach(how request try_request raw_request poll wait wait_until barrier unmap bundle)
  am_violation(${how}_in_request "${in_request}")
endforeach()
am_violation(request_in_reply "on_guilty_reply.*reply handler may not communicate")
am_violation(poll_in_reply "on_guilty_reply.*reply handler may not communicate")
am_violation(poll_in_get "on_filling")
am_violation(bundle_end_in_reply "~Bundle was called while handler .*on_guilty_reply was running.*VIA-3002")
am_violation(reply_twice "on_guilty.*replied twice")
am_violation(bulk_reply_twice "on_guilty.*replied twice")
am_violation(send_back_twice "on_guilty sent a message back that was answered.*VIA-3002")
am_violation(send_back_replied "on_guilty sent a message back that was answered.*VIA-3002")
am_violation(send_back_then_reply "on_guilty replied twice.*VIA-3002")
am_violation(send_back_of_get "on_filling sent a get's data back.*VIA-3002")
am_violation(send_back_of_words "send_back in handler .*on_guilty: 17 words.*at most 16 .VIA-3012")
am_violation(send_back_of_bytes "send_back in handler .*on_guilty: 9 bytes.*1 words have 8 .VIA-3012")
am_violation(send_back_of_none "send_back in handler .*on_guilty: status 0 is no reason.*VIA-3012")
am_violation(send_back_of_status "send_back in handler .*on_guilty: status 200 is no reason.*VIA-3012")
am_violation(send_back_of_null "send_back in handler .*on_guilty: the arguments are null.*VIA-3012")
am_violation(reply_to_reply "on_guilty_reply.*replied to a reply")
am_violation(reply_in_child "a reply was called in a child that a rank forked")
am_violation(medium_reply_in_child "a reply was called in a child that a rank forked")
am_violation(poll_two_bundles "two threads of rank 0 use its NIC at the same time")
am_violation(request_beside_wait "two threads of rank 0 use a sequential bundle.*in wait_until, the other calls a request; .*parallel")
am_violation(try_request_beside_wait "two threads of rank 0 use a sequential bundle.*in wait_until, the other calls"
             RANKS 2)
am_violation(medium_request_beside_wait "two threads of rank 0 use a sequential bundle.*in wait_until, the other calls a request; .*parallel"
             RANKS 2)
am_violation(late_library "undeliverable request.*handler .*on_late.* .of a library that was loaded after the Context.*EBADHANDLER")
am_violation(default_handler_0 "undeliverable request.* to rank [0-9]+ .index [0-9]+., handler 9 .of the endpoint.s own table.: .*EBADHANDLER")
am_violation(default_handler_0_here "undeliverable request.* to index 700, handler [^ =]*( namespace.::)?on_innocent: .*EBADENTRY")
am_violation(request_in_handler_0 "undeliverable-message handler")
am_violation(endpoint_left "a bundle ends before its endpoint 1: declare")
foreach(ranks 1 2)
  viaduct_add_script_test(
    NAME am_violation_of_long_message_r${ranks} LABELS multiprocess TIMEOUT 180
    COMMAND ${here}/am_violation.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:am_violation> ${ranks} poll_in_request
            "on_guilty_long" long)
endforeach()

# A handler's wait serves another bundle, whose handler waits as well.
viaduct_add_program(am_nested_waits SOURCES am_nested_waits.cpp)
viaduct_add_script_test(
  NAME am_nested_waits LABELS multiprocess TIMEOUT 120 PROCESSORS 2
  COMMAND ${CMAKE_COMMAND} -E env VIADUCT_AM_SLOTS=8 VIADUCT_AM_CREDITS=3 $<TARGET_FILE:viaduct-run> -n 3 --timeout 110
          $<TARGET_FILE:am_nested_waits>)

# More ranks than rings that a poll looks at.
viaduct_add_program(am_barrier SOURCES am_barrier.cpp)
foreach(ranks 3 12 16)
  viaduct_add_script_test(
    NAME am_barrier_r${ranks} LABELS multiprocess TIMEOUT 120 PROCESSORS 2
    COMMAND viaduct-run -n ${ranks} --timeout 110 $<TARGET_FILE:am_barrier> 2000)
endforeach()

# A wait for a rank that never polls says what it waits for.
viaduct_add_program(am_connecting SOURCES am_connecting.cpp)
viaduct_add_script_test(
  NAME am_connecting LABELS multiprocess TIMEOUT 180
  COMMAND ${here}/am_connecting.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:am_connecting>)

# A rank is killed, or leaves.
viaduct_add_program(am_peer_lost SOURCES am_peer_lost.cpp)
foreach(how idle in_handler in_medium_handler holding_credits while_requesting in_barrier leaves exits)
  set(code 137)
  if(how MATCHES "leaves|exits")
    set(code 1)  # it ended with 0, but not as a rank does
  endif()
  set(chosen 3)
  foreach(ranks 3 7)
    viaduct_pairwise_label(label chosen ${ranks})
    viaduct_add_script_test(
      NAME am_peer_lost_${how}_r${ranks} LABELS multiprocess fault ${label} TIMEOUT 180
      COMMAND ${here}/am_peer_lost.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:am_peer_lost> ${ranks} ${how} ${code})
  endforeach()
endforeach()

# A rank has ended and waits for the others, who send to it.
viaduct_add_program(am_finalized SOURCES am_finalized.cpp)
set(chosen "2|threads" "7|processes")
foreach(how known unknown busy connecting get_for_replies_alone)
  foreach(ranks 2 7)
    foreach(mode processes threads)
      viaduct_pairwise_label(label chosen "${ranks}|${mode}")
      viaduct_add_script_test(
        NAME am_finalized_${how}_r${ranks}_${mode} LABELS multiprocess fault ${label} TIMEOUT 180
        COMMAND ${here}/am_finalized.sh $<TARGET_FILE:viaduct-run> $<TARGET_FILE:am_finalized> ${ranks} ${mode}
                ${how})
    endforeach()
  endforeach()
endforeach()

# Segments in private memory: where the kernel lets peers at it, and where it does not.
viaduct_add_program(am_cross_memory SOURCES am_cross_memory.cpp)
viaduct_add_script_test(
  NAME am_cross_memory LABELS multiprocess TIMEOUT 180
  COMMAND viaduct-run -n 2 --timeout 170 $<TARGET_FILE:am_cross_memory>)
viaduct_add_script_test(
  NAME am_cross_memory_refused LABELS multiprocess fault TIMEOUT 180
  COMMAND without_syscalls process_vm_writev $<TARGET_FILE:viaduct-run> -n 2 --timeout 170
          $<TARGET_FILE:am_cross_memory> refused)
