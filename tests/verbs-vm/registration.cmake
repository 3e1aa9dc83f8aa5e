# The registration cache (docs/decisions/011); included by CMakeLists.txt, whose variables it uses.
viaduct_add_program(registration SOURCES registration.cpp)
# vm: the kernel pins pages, and tells by userfaultfd what becomes of their addresses.
viaduct_verbs_test(soft+vm cache_content 120 "${am} ${run} -n 2 <registration> content")
viaduct_verbs_test(soft+long cache_bulk_copied 120 "VIADUCT_VERBS_PINNED_BYTES=0 ${am} ${run} -n 2 <am_test> bulk")
viaduct_verbs_test(soft+long cache_limited 120
  "VIADUCT_VERBS_PINNED_BYTES=1M ${am} ${run} -n 2 <registration> limited 1048576")
viaduct_verbs_test(soft+long cache_over_nic 120 "${am} ${run} -n 2 <registration> register")
# vm: the kernel's limit of locked memory.
viaduct_verbs_test(vm cache_memory_lock 300 "${am} ${here}/memory_lock.sh <viaduct-run> <registration>")
viaduct_verbs_test(long cache_unit 300 "<unit_via> --gtest_filter=Registration*")
