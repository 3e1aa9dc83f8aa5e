# Credits and replies where the ring is short.
viaduct_add_program(splitc_credits SOURCES ${CMAKE_CURRENT_LIST_DIR}/credits_test.cpp LIBRARIES viaduct::splitc)
foreach(setting PATH=message OFF_NODE=yes)
  string(REGEX REPLACE "=.*" "" name ${setting})
  string(TOLOWER ${name} name)
  viaduct_add_script_test(
    NAME splitc_credits_${name}_r3 LABELS multiprocess TIMEOUT 120 PROCESSORS 2
    COMMAND ${CMAKE_COMMAND} -E env VIADUCT_SPLITC_${setting} VIADUCT_SPLITC_SLOTS=8 $<TARGET_FILE:viaduct-run> -n 3
            --timeout 110 $<TARGET_FILE:splitc_credits>)
endforeach()
