# The registration cache (docs/decisions/011); included by CMakeLists.txt, whose variables it uses.
viaduct_add_program(registration SOURCES registration.cpp)
viaduct_add_verbs_test(cache_content 120 "${am} ${run} -n 2 <registration> content")
viaduct_add_long_verbs_test(cache_bulk_copied 120 "VIADUCT_VERBS_PINNED_BYTES=0 ${am} ${run} -n 2 <am_test> bulk")
viaduct_add_verbs_test(
  cache_limited 120
  "VIADUCT_VERBS_PINNED_BYTES=1M ${am} ${run} -n 2 <registration> limited 1048576")
viaduct_add_verbs_test(cache_over_nic 120 "${am} ${run} -n 2 <registration> register")
viaduct_add_verbs_test(cache_memory_lock 300 "${am} ${here}/memory_lock.sh <viaduct-run> <registration>")
viaduct_add_long_verbs_test(cache_unit 300 "<unit_via> --gtest_filter=Registration*")
