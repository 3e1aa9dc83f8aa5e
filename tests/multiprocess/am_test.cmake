# Active Messages: one program of cases that runs in every mode, and programs in which a rank must die.
set(here "${CMAKE_CURRENT_SOURCE_DIR}")
viaduct_glob(am_cases tests/multiprocess/am_*_cases.cpp)

viaduct_add_test(
  NAME am_test
  SOURCES am_test.cpp am_rig.cpp ${am_cases} ${PROJECT_SOURCE_DIR}/tests/conformance/check.cpp
  LABELS multiprocess
  RANKS 1 2 4 7
  MODES processes threads
  TIMEOUT 120)
