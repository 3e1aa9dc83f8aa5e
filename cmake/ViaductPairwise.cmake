# Pairwise choice of tests: which combinations of a full product ./test runs.
#
#   viaduct_pairwise(VARIABLE LIST...)
#     Each LIST is the name of a variable that holds the values of one factor (no value has a `|`). VARIABLE becomes a
#     list of combinations "a|b|c", a part of the full product in which every pair of values of any two factors stands
#     at least once. The choice is always the same for the same lists.
#
#   viaduct_pairwise_label(VARIABLE CHOSEN COMBINATION)
#     VARIABLE becomes empty when COMBINATION is one of CHOSEN (the name of a variable), and `long;product` when not: so
#     the combinations that ./test leaves out stay registered for preset `long`.

# _viaduct_pairs(VARIABLE VALUE...): the pairs of one combination, as "i:a/j:b".
function(_viaduct_pairs variable)
  set(pairs)
  math(EXPR last "${ARGC} - 2")
  foreach(i RANGE ${last})
    foreach(j RANGE ${last})
      if(i LESS j)
        list(GET ARGN ${i} a)
        list(GET ARGN ${j} b)
        list(APPEND pairs "${i}:${a}/${j}:${b}")
      endif()
    endforeach()
  endforeach()
  set(${variable} "${pairs}" PARENT_SCOPE)
endfunction()

# _viaduct_product(VARIABLE LIST...): the full product.
function(_viaduct_product variable)
  list(POP_FRONT ARGN first)
  set(product ${${first}})
  foreach(factor ${ARGN})
    set(longer)
    foreach(combination ${product})
      foreach(value ${${factor}})
        list(APPEND longer "${combination}|${value}")
      endforeach()
    endforeach()
    set(product ${longer})
  endforeach()
  set(${variable} "${product}" PARENT_SCOPE)
endfunction()

# Takes, again and again, the first combination with the most pairs that no combination has yet.
function(viaduct_pairwise variable)
  _viaduct_product(product ${ARGN})
  set(chosen)
  set(seen)
  list(LENGTH ARGN factors)
  math(EXPR most "${factors} * (${factors} - 1) / 2")
  # A combination never gains new pairs, so each number of new pairs needs one pass only.
  foreach(wanted RANGE ${most} 1 -1)
    foreach(combination ${product})
      string(REPLACE "|" ";" values "${combination}")
      _viaduct_pairs(pairs ${values})
      list(REMOVE_ITEM pairs ${seen} "")
      list(LENGTH pairs fresh)
      if(fresh EQUAL wanted)
        list(APPEND chosen "${combination}")
        list(APPEND seen ${pairs})
      endif()
    endforeach()
  endforeach()
  set(${variable} "${chosen}" PARENT_SCOPE)
endfunction()

# The parameters have long names, since they hide variables of the same name in the caller.
function(viaduct_pairwise_label label_variable chosen_list wanted_combination)
  if(wanted_combination IN_LIST ${chosen_list})
    set(${label_variable} "" PARENT_SCOPE)
  else()
    set(${label_variable} long product PARENT_SCOPE)
  endif()
endfunction()
