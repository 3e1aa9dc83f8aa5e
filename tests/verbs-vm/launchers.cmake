# Real launchers, and jobs on two hosts: mpirun in the suite's machine, two machines for the rest.

# mpirun's ranks; both devices are this machine's, so that the wire is between them.
set(mpirun "mpirun --allow-run-as-root --oversubscribe")
viaduct_verbs_test(long mpirun_conformance_r2 300 "${both} VIADUCT_PROVIDER=verbs ${mpirun} -n 2 <via_conformance>")
viaduct_verbs_test(long mpirun_am_r2 300 "${am} ${here}/no_rnr.sh ${mpirun} -n 2 <am_test>")
viaduct_verbs_test(more+long mpirun_am_all_pairs_r2 300 "${am} ${here}/no_rnr.sh ${mpirun} -n 2 <all_pairs>")
viaduct_verbs_test(soft+long mpirun_am_all_pairs_r4 300 "${am} ${here}/no_rnr.sh ${mpirun} -n 4 <all_pairs> 200")
# vm: devices, addresses and limits as the kernel shows them.
viaduct_verbs_test(soft+vm info 120 "${here}/info.sh <viaduct-info> <viaduct-run>")

# Two machines, booted once for all of these.
viaduct_add_program(two_hosts SOURCES two_hosts.cpp)
# Two pretended hosts on software devices, whose writes become visible byte by byte.
set(pretended "${both} <viaduct-run> --timeout @LIMIT@ --hosts a:2,b:2")
set(pretended "${pretended} --remote-command '/usr/bin/env VIADUCT_HOST_KEY={host} /bin/sh -c {command}' <two_hosts>")
viaduct_verbs_test(soft two_hosts_exchange 120 "SOFT_VERBS_FAULTS=torn=50%,scattered=50%,seed=1 ${pretended} exchange")
viaduct_verbs_test(more two_hosts_exchange_late 120 "SOFT_VERBS_FAULTS=delay=20%:300us,late=20%:200us,seed=1 ${pretended} exchange")
# viaduct_add_two_hosts(PREFIX LABELS NAME...)
function(viaduct_add_two_hosts prefix labels)
  set(results "${CMAKE_CURRENT_BINARY_DIR}/${prefix}-two-hosts")
  viaduct_add_script_test(
    NAME ${prefix}.two_hosts
    LABELS ${labels}
    TIMEOUT 2200
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run_two_hosts.sh ${VIADUCT_VERBS_VM} 2000 ${results} $<TARGET_FILE:viaduct-run>
            $<TARGET_FILE:two_hosts> ${ARGN})
  set_tests_properties(${prefix}.two_hosts PROPERTIES FIXTURES_SETUP ${prefix}_two_hosts)
  foreach(name ${ARGN})
    viaduct_add_script_test(
      NAME ${prefix}.two_hosts_${name}
      LABELS ${labels}
      TIMEOUT 180
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/result.sh ${results} ${name})
    set_tests_properties(${prefix}.two_hosts_${name} PROPERTIES FIXTURES_REQUIRED ${prefix}_two_hosts)
  endforeach()
endfunction()
if(NOT VIADUCT_SANITIZE)
  # Two kernels, with a network between them that takes messages of all sizes.
  viaduct_add_two_hosts(verbs verbs exchange)
  viaduct_add_two_hosts(verbs_long "verbs;long" exchange_rendezvous killed vanished)
endif()
