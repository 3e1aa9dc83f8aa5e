# Blocks of staging memory come back to a sender although their receiver makes light polls alone.
viaduct_add_program(splitc_staging SOURCES ${CMAKE_CURRENT_LIST_DIR}/staging_test.cpp LIBRARIES viaduct::splitc)
viaduct_add_script_test(
  NAME splitc_staging_r2 LABELS multiprocess TIMEOUT 120
  COMMAND ${CMAKE_COMMAND} -E env VIADUCT_SPLITC_STAGING=32K $<TARGET_FILE:viaduct-run> -n 2 --timeout 110
          $<TARGET_FILE:splitc_staging>)
