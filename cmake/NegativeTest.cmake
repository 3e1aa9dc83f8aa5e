# cmake -D COMPILER= -D SOURCE= -D EXPECT= -D INCLUDES=a:b -D "FLAGS=x y" -D OBJECT= -P NegativeTest.cmake
# The source must compile as it is; with VIADUCT_NEGATIVE it must not, and the compiler must say EXPECT.

separate_arguments(FLAGS UNIX_COMMAND "${FLAGS}")
string(REPLACE ":" ";" INCLUDES "${INCLUDES}")
list(TRANSFORM INCLUDES PREPEND "-I")
set(command "${COMPILER}" ${FLAGS} ${INCLUDES} -c "${SOURCE}" -o "${OBJECT}")

execute_process(COMMAND ${command} RESULT_VARIABLE status ERROR_VARIABLE diagnostics)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the control does not compile, so its failure would prove nothing: ${SOURCE}\n${diagnostics}")
endif()

execute_process(COMMAND ${command} -DVIADUCT_NEGATIVE RESULT_VARIABLE status ERROR_VARIABLE diagnostics)
file(REMOVE "${OBJECT}")
if(status EQUAL 0)
  message(FATAL_ERROR "compiles with VIADUCT_NEGATIVE although it must not: ${SOURCE}")
endif()
if(NOT diagnostics MATCHES "${EXPECT}")
  message(FATAL_ERROR "fails as it must, but without the diagnostic '${EXPECT}': ${SOURCE}\n${diagnostics}")
endif()
