viaduct_add_test(
  NAME splitc.pointer_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/pointer_test.cpp LIBRARIES viaduct::splitc
  LABELS unit TIMEOUT 180)
