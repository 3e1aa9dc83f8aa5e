# Split-C over verbs, and in mixed jobs: the programs of tests/splitc with less work, since each access that is direct on
# one host is a message here. Not here are tests of what is mapped: the cases of tests/splitc that leave a fence out, and
# detail::Memory by itself.

set(sc "${both} VIADUCT_PROVIDER=verbs")
# Ranks of two hosts in one machine: those of a host share memory.
set(mixed "${both} <viaduct-run> --timeout @LIMIT@ --hosts a:2,b:2")
set(mixed "${mixed} --remote-command '/usr/bin/env VIADUCT_HOST_KEY={host} /bin/sh -c {command}'")
set(model "<splitc_model> --phases 2 --ops 20")

viaduct_verbs_test(soft+long splitc_sizes_r2 120 "${sc} ${here}/no_rnr.sh ${run} -n 2 <splitc_sizes>")
viaduct_verbs_test(more+long splitc_model_r2 120 "${sc} ${here}/no_rnr.sh ${run} -n 2 ${model}")
viaduct_verbs_test(more+long splitc_collective_r2 200 "${sc} ${run} -n 2 <splitc_collective_test> --rounds 200")
viaduct_verbs_test(soft+long splitc_collective_r3 600 "${sc} ${run} -n 3 <splitc_collective_test> --rounds 50")
viaduct_verbs_test(soft+long splitc_with_am_r2 120 "${sc} ${run} -n 2 <splitc_with_am>")
viaduct_verbs_test(more+long splitc_mixed_model 200 "${mixed} <splitc_model> --phases 1 --ops 10")
if(TARGET sample_sort)
  viaduct_verbs_test(soft+long splitc_mixed_sample_sort 120 "${mixed} <sample_sort> --count 2000 --seed 7")
endif()
if(TARGET splitcc)
  set(program "${CMAKE_BINARY_DIR}/tests/bin/splitc")
  viaduct_verbs_test(soft+long splitcc_many_r2 120 "${sc} ${run} -n 2 ${program}_many")
  viaduct_verbs_test(soft+long splitcc_mixed_many 120 "${mixed} ${program}_many")
  viaduct_verbs_test(soft+long splitcc_corners_r2 120 "${sc} ${run} -n 2 ${program}_corners")
endif()
# Started by mpirun.
viaduct_verbs_test(more+long mpirun_splitc_model_r2 120 "${sc} ${here}/no_rnr.sh ${mpirun} -n 2 ${model}")
viaduct_verbs_test(more+long mpirun_splitc_sizes_r2 120 "${sc} ${mpirun} -n 2 <splitc_sizes>")
viaduct_verbs_test(soft+long mpirun_splitc_collective_r2 200 "${sc} ${mpirun} -n 2 <splitc_collective_test> --rounds 200")
if(TARGET splitcc)
  viaduct_verbs_test(more+long mpirun_splitcc_many_r2 120 "${sc} ${mpirun} -n 2 ${program}_many")
endif()
foreach(how kind end)
  viaduct_verbs_test(soft+long splitc_wrong_${how} 120
    "${sc} ${PROJECT_SOURCE_DIR}/tests/splitc/collective_wrong.sh <viaduct-run> <splitc_collective_wrong> 2 ${how} 'every process must make'")
endforeach()
foreach(how while_others_sleep in_reduce)
  viaduct_verbs_test(beside+long splitc_lost_${how} 120
    "${sc} ${PROJECT_SOURCE_DIR}/tests/multiprocess/am_peer_lost.sh <viaduct-run> <splitc_collective_lost> 3 ${how} 137")
endforeach()
viaduct_verbs_test(beside+long splitc_lost_failed_in_stores 120
  "${sc} ${PROJECT_SOURCE_DIR}/tests/multiprocess/am_peer_lost.sh <viaduct-run> <splitc_collective_lost> 3 failed_in_stores 1")

viaduct_verbs_test(soft+long splitc_model_t2 300 "${sc} ${run} -n 2 --mode threads ${model}")
viaduct_verbs_test(soft+long splitc_model_one_credit 300 "VIADUCT_SPLITC_CREDITS=1 VIADUCT_VERBS_LINK_DEPTH=8 ${sc} ${here}/no_rnr.sh ${run} -n 2 ${model}")
viaduct_verbs_test(soft+long splitc_model_two_vis 300 "VIADUCT_SPLITC_VIS=2 VIADUCT_SPLITC_STAGING=4096 ${sc} ${run} -n 2 ${model}")
viaduct_verbs_test(soft+long splitc_model_lossy 300 "${sc} ${here}/lossy.sh 2 ${run} -n 2 ${model}")
viaduct_verbs_test(soft+long splitc_litmus_r2 300 "${sc} ${run} -n 2 <splitc_litmus> --ms 1")
viaduct_verbs_test(soft+long splitc_atomic_put_r2 300 "${sc} ${run} -n 2 <splitc_atomic_put_test>")
viaduct_verbs_test(soft+long splitc_alloc_r2 300 "${sc} ${run} -n 2 <splitc_alloc>")
viaduct_verbs_test(soft+long splitc_mixed_collective 600 "${mixed} <splitc_collective_test> --rounds 50")
if(TARGET em3d)
  viaduct_verbs_test(soft+long splitc_mixed_em3d 120 "${mixed} $<TARGET_FILE:em3d> --nodes 100 --steps 2 --how bulk")
endif()
viaduct_add_program(splitc_link_down SOURCES splitc_link_down.cpp LIBRARIES viaduct::splitc)
viaduct_verbs_test(beside+long splitc_link_down 120 "${sc} ${here}/link_down.sh <viaduct-run> -n 2 --timeout @LIMIT@ <splitc_link_down>")
viaduct_verbs_test(beside+long splitc_link_down_waits 120 "${sc} ${here}/link_down.sh <viaduct-run> -n 2 --timeout @LIMIT@ <splitc_link_down> waits")

# One-sided between hosts (docs/splitc.md): path rdma, by which words go, too. On hosts that one machine plays, with one to
# four ranks on each, and between all ranks of one.
viaduct_add_program(one_sided SOURCES one_sided.cpp LIBRARIES viaduct::splitc)
viaduct_add_program(one_sided_tried SOURCES one_sided_tried.cpp LIBRARIES viaduct::splitc)
set(rdma "VIADUCT_SPLITC_PATH=rdma")
# Each of two hosts has a device of its own.
set(one_each "<viaduct-run> --timeout @LIMIT@ --hosts @A@:1,@B@:1")
string(APPEND one_each " --remote-command '/usr/bin/env VIADUCT_HOST_KEY={host} VIADUCT_VERBS_DEVICE={host} /bin/sh -c {command}'")
set(pair "${rdma} ${one_each}")
set(three "${both} ${rdma} <viaduct-run> --timeout @LIMIT@ --hosts a:3,b:4")
string(APPEND three " --remote-command '/usr/bin/env VIADUCT_HOST_KEY={host} /bin/sh -c {command}'")
viaduct_verbs_test(more+long one_sided_ops_r1 120 "${sc} ${rdma} ${run} -n 1 <one_sided> ops")
viaduct_verbs_test(soft+long one_sided_ops_r2 120 "${pair} <one_sided> ops")
viaduct_verbs_test(soft+long one_sided_ops_r4 120 "${rdma} ${mixed} <one_sided> ops")
viaduct_verbs_test(more+long one_sided_ops_r7 300 "${three} <one_sided> ops")
viaduct_verbs_test(${threads_place}+long one_sided_ops_t2 300 "${sc} ${rdma} ${run} -n 2 --mode threads <one_sided> ops")
viaduct_verbs_test(soft one_sided_ops_torn 120 "SOFT_VERBS_FAULTS=torn=2%,scattered=2%,seed=1 ${pair} <one_sided> ops")
viaduct_verbs_test(soft one_sided_ops_late 120 "SOFT_VERBS_FAULTS=delay=5%:100us,late=20%:200us,seed=1 ${pair} <one_sided> ops")
viaduct_verbs_test(soft+long one_sided_ops_lossy 300 "${here}/lossy.sh 2 env ${pair} <one_sided> ops")
viaduct_verbs_test(soft+long one_sided_small 120 "VIADUCT_VERBS_LINK_DEPTH=8 VIADUCT_SPLITC_CREDITS=1 VIADUCT_VERBS_LINK_INLINE=0 VIADUCT_SPLITC_VIS=2 VIADUCT_SPLITC_STAGING=8192 ${sc} ${rdma} ${run} -n 2 <one_sided> ops")
viaduct_verbs_test(soft+long one_sided_sleeping_r3 120 "${sc} ${rdma} ${run} -n 3 <one_sided> sleeping")
viaduct_verbs_test(more+long one_sided_sleeping_r7 120 "${three} <one_sided> sleeping")
viaduct_verbs_test(soft+long one_sided_freed 120 "${pair} <one_sided> freed")
viaduct_verbs_test(soft+long one_sided_tried 120 "${sc} ${run} -n 2 <one_sided_tried>")
viaduct_verbs_test(soft+long one_sided_auto 120 "${mixed} <one_sided> auto")
viaduct_verbs_test(beside+long one_sided_killed 120
  "${sc} ${rdma} ${PROJECT_SOURCE_DIR}/tests/multiprocess/am_peer_lost.sh <viaduct-run> <one_sided> 3 killed 137")
viaduct_verbs_test(beside+long blocks_killed 120
  "${sc} VIADUCT_SPLITC_PATH=message ${PROJECT_SOURCE_DIR}/tests/multiprocess/am_peer_lost.sh <viaduct-run> <one_sided> 3 killed 137")
viaduct_verbs_test(beside+long one_sided_link_down 120 "${sc} ${rdma} ${here}/link_down.sh <viaduct-run> -n 2 --timeout @LIMIT@ <splitc_link_down>")
viaduct_verbs_test(soft+long splitc_model_rdma_r2 120 "${sc} ${rdma} ${here}/no_rnr.sh ${run} -n 2 ${model}")
viaduct_verbs_test(soft+long splitc_mixed_model_rdma 200 "${rdma} ${mixed} <splitc_model> --phases 1 --ops 10")
viaduct_verbs_test(soft+long splitc_sizes_rdma_r2 120 "${sc} ${rdma} ${run} -n 2 <splitc_sizes>")
viaduct_verbs_test(soft+long splitc_litmus_rdma_r2 300 "${sc} ${rdma} ${run} -n 2 <splitc_litmus> --ms 1")
viaduct_verbs_test(soft+long splitc_alloc_rdma_r2 300 "${sc} ${rdma} ${run} -n 2 <splitc_alloc>")

# Two machines, two ranks on each.
set(two_hosts_programs "$<TARGET_FILE:splitc_model> --phases 1 --ops 10" "$<TARGET_FILE:splitc_collective_test> numbers order")
if(TARGET sample_sort)
  list(APPEND two_hosts_programs "$<TARGET_FILE:sample_sort> --count 2000 --seed 7")
endif()
if(TARGET splitcc)
  list(APPEND two_hosts_programs "${program}_many")
endif()
if(NOT VIADUCT_SANITIZE)
  viaduct_add_script_test(
    NAME verbs_long.splitc_two_hosts
    LABELS verbs long
    TIMEOUT 600
    PROCESSORS 2
    COMMAND ${VIADUCT_VERBS_VM} -2 -t 280 ${here}/splitc_two_hosts.sh ${two_hosts_programs})
endif()
