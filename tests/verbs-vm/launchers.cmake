# Real launchers, and jobs on two hosts: mpirun in the suite's machine, two machines for the rest.

# mpirun's ranks; both devices are this machine's, so that the wire is between them.
set(mpirun "mpirun --allow-run-as-root --oversubscribe")
viaduct_add_verbs_test(mpirun_conformance_r2 300 "${both} VIADUCT_PROVIDER=verbs ${mpirun} -n 2 <via_conformance>")
viaduct_add_verbs_test(mpirun_am_r2 300 "${am} ${here}/no_rnr.sh ${mpirun} -n 2 <am_test>")
viaduct_add_verbs_test(mpirun_am_all_pairs_r2 300 "${am} ${here}/no_rnr.sh ${mpirun} -n 2 <all_pairs>")
viaduct_add_verbs_test(mpirun_am_all_pairs_r4 300 "${am} ${here}/no_rnr.sh ${mpirun} -n 4 <all_pairs> 200")
viaduct_add_verbs_test(info 120 "${here}/info.sh <viaduct-info> <viaduct-run>")

# Two machines, booted once for all of these.
viaduct_add_program(two_hosts SOURCES two_hosts.cpp)
set(two_hosts_results "${CMAKE_CURRENT_BINARY_DIR}/two-hosts-results")
viaduct_add_script_test(
  NAME verbs.two_hosts
  LABELS verbs
  TIMEOUT 600
  PROCESSORS 2
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run_two_hosts.sh ${VIADUCT_VERBS_VM} 500 ${two_hosts_results}
          $<TARGET_FILE:viaduct-run> $<TARGET_FILE:two_hosts>)
set_tests_properties(verbs.two_hosts PROPERTIES FIXTURES_SETUP verbs_two_hosts)
foreach(name exchange exchange_rendezvous killed vanished)
  viaduct_add_script_test(
    NAME verbs.two_hosts_${name}
    LABELS verbs
    TIMEOUT 30
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/result.sh ${two_hosts_results} ${name})
  set_tests_properties(verbs.two_hosts_${name} PROPERTIES FIXTURES_REQUIRED verbs_two_hosts)
endforeach()
