# cmake -D COMPILER= -D CASES=file -D INCLUDES=a:b -D "FLAGS=x y" -D PRECOMPILED=a.hpp:b.hpp -D WORK=folder -P NegativeTest.cmake
#
# CASES holds lines `viaduct_negative_case(SOURCE EXPECT)`. Each source must compile as it is; with VIADUCT_NEGATIVE it must
# not, and the compiler must say EXPECT. The compiler translates the headers PRECOMPILED once for all cases, since they take
# nearly all of its time, and it generates no code.

separate_arguments(FLAGS UNIX_COMMAND "${FLAGS}")
string(REPLACE ":" ";" INCLUDES "${INCLUDES}")
string(REPLACE ":" ";" PRECOMPILED "${PRECOMPILED}")
list(TRANSFORM INCLUDES PREPEND "-I")
file(MAKE_DIRECTORY "${WORK}")
set(header "${WORK}/headers.hpp")
list(TRANSFORM PRECOMPILED REPLACE "(.+)" "#include \"\\1\"\n")
list(JOIN PRECOMPILED "" text)
file(WRITE "${header}" "${text}")
execute_process(
  COMMAND "${COMPILER}" ${FLAGS} ${INCLUDES} -x c++-header "${header}" -o "${header}.gch"
  RESULT_VARIABLE status ERROR_VARIABLE diagnostics)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the headers do not compile:\n${diagnostics}")
endif()

set(count 0)
set(command "${COMPILER}" ${FLAGS} ${INCLUDES} -include "${header}" -fsyntax-only)

function(viaduct_negative_case source expect)
  math(EXPR more "${count} + 1")
  set(count ${more} PARENT_SCOPE)
  execute_process(COMMAND ${command} "${source}" RESULT_VARIABLE status ERROR_VARIABLE diagnostics)
  if(NOT status EQUAL 0)
    message(SEND_ERROR "the control does not compile, so its failure would prove nothing: ${source}\n${diagnostics}")
    return()
  endif()
  execute_process(COMMAND ${command} -DVIADUCT_NEGATIVE "${source}" RESULT_VARIABLE status ERROR_VARIABLE diagnostics)
  if(status EQUAL 0)
    message(SEND_ERROR "compiles with VIADUCT_NEGATIVE although it must not: ${source}")
  elseif(NOT diagnostics MATCHES "${expect}")
    message(SEND_ERROR "fails as it must, but without the diagnostic '${expect}': ${source}\n${diagnostics}")
  endif()
endfunction()

include("${CASES}")
if(count EQUAL 0)
  message(FATAL_ERROR "there is no case in ${CASES}")
endif()
message(STATUS "${count} programs are refused as they must be, unless an error stands above")
