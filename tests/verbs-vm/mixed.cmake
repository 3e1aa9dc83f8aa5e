# Active Messages and Split-C in one program (tests/mixed), over verbs and in mixed jobs. Each does a third of the
# pairs, and with those of preset long all ranks of two hosts do all pairs.

set(message "VIADUCT_SPLITC_PATH=message")  # on others some waits need nobody's part
set(hosts "${both} <viaduct-run> --timeout @LIMIT@ --remote-command '/usr/bin/env VIADUCT_HOST_KEY={host} /bin/sh -c {command}' --hosts")
viaduct_verbs_test(soft+long mixed_r2 120 "${am} ${run} -n 2 <mixed> all 0 3")
viaduct_verbs_test(more+long mixed_r4 120 "${message} ${am} ${run} -n 4 <mixed> all 1 3")
viaduct_verbs_test(more+long mixed_r7 240 "${message} ${am} ${run} -n 7 <mixed> all 2 3")
viaduct_verbs_test(soft+long mixed_t4 240 "${message} ${am} ${run} -n 4 --mode threads <mixed> all 0 3")
# Ranks of two hosts in one machine.
viaduct_verbs_test(soft+long mixed_hosts_r2 120 "${one_each} <mixed> all 1 3")
set(soft_or_more soft)
if(VIADUCT_SANITIZE)  # the same code as in r2 and r7
  set(soft_or_more more)
endif()
viaduct_verbs_test(${soft_or_more}+long mixed_hosts_r4 120 "${message} ${hosts} a:2,b:2 <mixed> all 2 3")
viaduct_verbs_test(soft+long mixed_hosts_r7 240 "${message} ${hosts} a:4,b:3 <mixed> all 0 3")
foreach(part 0 2)
  viaduct_verbs_test(more mixed_hosts_r2_${part} 120 "${one_each} <mixed> all ${part} 3")
endforeach()
foreach(part 0 1)
  viaduct_verbs_test(more mixed_hosts_r4_${part} 120 "${message} ${hosts} a:2,b:2 <mixed> all ${part} 3")
endforeach()
foreach(part 1 2)
  viaduct_verbs_test(more mixed_hosts_r7_${part} 240 "${message} ${hosts} a:4,b:3 <mixed> all ${part} 3")
endforeach()
