# Judges a hot path in an object file: the main part of one function, which is what is left when the compiler has split
# off its cold part (NAME.cold), and the main parts of the functions that it calls within the object because the compiler
# has not inlined them. Reads objdump's symbol table and its disassembly with relocations, one after the other.
#
# variables: function  the function's name, as objdump -C prints it
#            allowed   file of regular expressions, one a line: what may be called or jumped to (cold functions)
# prints:    a line "count INSTRUCTIONS STORES INDIRECT_CALLS FUNCTIONS", and a line "bad ..." for each thing that may
#            not be there
#
# Padding is not counted. A store is an instruction that writes memory other than the stack.

BEGIN {
  while ((status = (getline line < allowed)) > 0) if (line !~ /^[ \t]*(#|$)/) allow[++allow_count] = line
  if (status < 0) { print "bad cannot read " allowed; exit }
}

function hex(text,    value, i) {
  value = 0
  text = tolower(text)
  for (i = 1; i <= length(text); ++i) value = 16 * value + index("0123456789abcdef", substr(text, i, 1)) - 1
  return value
}

function bad(sentence) { print "bad " sentence (current == function_name ? "" : " (in " current ")") }

# "NAME+0x10" -> "NAME"; a section's name and offset -> the function that lies there. Relocations of calls and jumps
# count from the end of their 4 bytes.
function named(target,    base, offset, i, best) {
  base = target
  offset = 0
  if (match(target, /[-+]0x[0-9a-f]+$/)) {
    base = substr(target, 1, RSTART - 1)
    offset = hex(substr(target, RSTART + 3))
    if (substr(target, RSTART, 1) == "-") offset = -offset
  }
  if (base !~ /^\.text/) return base
  offset += 4
  best = 0
  for (i = 1; i <= symbols; ++i) {
    if (section[i] == base && address[i] <= offset && (!best || address[i] > address[best])) best = i
  }
  return best ? name[best] : base
}

function is_own_cold(target) {
  return target == current ".cold" || target == current " [clone .cold]"
}

function may_call(target,    i) {
  for (i = 1; i <= allow_count; ++i) if (target ~ allow[i]) return 1
  return 0
}

# A transfer of control to what is not the function's own body.
function transfer(mnemonic, operands, relocation,    target, inside) {
  if (operands ~ /^\*/) {
    if (mnemonic ~ /^call/) ++indirect
    else bad(mnemonic " " operands ": a jump to where a table or a pointer says")
    return
  }
  inside = 0
  if (relocation != "") target = named(relocation)
  else {
    target = operands
    sub(/^[^<]*</, "", target)
    sub(/>$/, "", target)
    inside = target ~ /\+0x[0-9a-f]+$/
    sub(/\+0x[0-9a-f]+$/, "", target)
  }
  if (is_own_cold(target) || (target == current && (inside || mnemonic !~ /^call/)) || may_call(target)) return
  if (target in heads && !inside) {
    if (!(target in seen)) path[++functions] = target
    seen[target] = 1
  } else {
    bad(mnemonic " " target ": not among the cold functions that it may call")
  }
}

function judge(mnemonic, operands, relocation) {
  if (mnemonic == "") return
  if (mnemonic ~ /^(nop|data16)/ || (mnemonic == "cs" && operands ~ /^nop/)) return
  if (mnemonic == "xchg" && operands == "%ax,%ax") return
  ++instructions
  if (mnemonic == "lock") bad("lock " operands ": a locked instruction")
  if (mnemonic ~ /^xchg/ && operands ~ /\)/) bad(mnemonic " " operands ": locks, though it does not say so")
  if (mnemonic ~ /^[mls]fence$/) bad(mnemonic ": a fence")
  if (mnemonic ~ /^(syscall|sysenter|cpuid|serialize|int)$/) bad(mnemonic ": leaves the processor's pipeline")
  if (mnemonic ~ /^(call|j|bnd|notrack)/) {
    if (mnemonic ~ /^(bnd|notrack)$/) {
      mnemonic = operands
      sub(/[ \t].*/, "", mnemonic)
      sub(/^[^ \t]+[ \t]+/, "", operands)
    }
    transfer(mnemonic, operands, relocation)
    return
  }
  sub(/[ \t]*#.*/, "", operands)
  if (operands !~ /\)$/ || operands ~ /\(%[er]sp[^()]*\)$/) return
  if (mnemonic ~ /^(cmp[bwlq]?|test|bt[wlq]?|lea|push|prefetch|v?u?comis|v?ptest|i?mul|i?div)/) return
  ++stores
}

BEGIN { function_name = ENVIRON["CODEGEN_FUNCTION"] }

# Symbol table: address, flags, section, TAB, size, name.
/^[0-9a-f]+ ....... \.text[^\t]*\t/ {
  split($0, half, "\t")
  split(half[1], left, " ")
  right = half[2]
  sub(/^[0-9a-f]+ +(\.(hidden|internal|protected) +)?/, "", right)
  if (left[1] != "" && right !~ /^\.text/) {
    name[++symbols] = right
    address[symbols] = hex(left[1])
    text = half[1]
    sub(/^.* /, "", text)
    section[symbols] = text
  }
  next
}

# Disassembly: the head of a function, an instruction, a relocation of the instruction before.
/^[0-9a-f]+ <.*>:$/ {
  head = $0
  sub(/^[0-9a-f]+ </, "", head)
  sub(/>:$/, "", head)
  ++heads[head]
  next
}
/^ *[0-9a-f]+:\t/ {
  sub(/^ *[0-9a-f]+:\t/, "")
  place = head SUBSEP (++count[head])
  mnemonics[place] = $1
  sub(/^[^ \t]+[ \t]*/, "")
  sub(/[ \t]+$/, "")
  operand[place] = $0
  next
}
/^\t+[0-9a-f]+: R_/ {
  sub(/^\t+[0-9a-f]+: R_[^\t]*\t/, "")
  relocations[place] = $0
}

END {
  current = function_name
  if (heads[function_name] != 1) bad("the object has " heads[function_name] + 0 " functions named " function_name)
  path[functions = 1] = function_name
  seen[function_name] = 1
  for (step = 1; step <= functions; ++step) {
    current = path[step]
    for (i = 1; i <= count[current]; ++i) {
      place = current SUBSEP i
      judge(mnemonics[place], operand[place], relocations[place])
    }
  }
  current = function_name
  if (!instructions) bad("no instructions of " function_name " were found")
  print "count", instructions + 0, stores + 0, indirect + 0, functions
}
