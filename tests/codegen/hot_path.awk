# Judges the main part of one function of an object file, which is what is left when the compiler has split off its
# cold part (NAME.cold): by objdump's symbol table and its disassembly with relocations, one after the other.
#
# variables: function  the function's name, as objdump -C prints it
#            allowed   file of regular expressions, one a line: what may be called or jumped to (cold functions)
# prints:    a line "count INSTRUCTIONS STORES INDIRECT_CALLS", and a line "bad ..." for each thing that may not be there
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

function bad(sentence) { print "bad " sentence }

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

function is_own(target) {
  return target == function_cold || target == function_clone
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
  if (is_own(target) || (target == function_name && (inside || mnemonic !~ /^call/))) return
  if (!may_call(target)) bad(mnemonic " " target ": not among the cold functions that it may call")
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

function finish() {
  judge(pending_mnemonic, pending_operands, pending_relocation)
  pending_mnemonic = ""
}

BEGIN {
  function_name = ENVIRON["CODEGEN_FUNCTION"]
  function_cold = function_name ".cold"
  function_clone = function_name " [clone .cold]"
}

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
  finish()
  head = $0
  sub(/^[0-9a-f]+ </, "", head)
  sub(/>:$/, "", head)
  within = head == function_name
  found += within
  next
}
within && /^ *[0-9a-f]+:\t/ {
  finish()
  sub(/^ *[0-9a-f]+:\t/, "")
  pending_mnemonic = $1
  pending_operands = $0
  sub(/^[^ \t]+[ \t]*/, "", pending_operands)
  sub(/[ \t]+$/, "", pending_operands)
  pending_relocation = ""
  next
}
within && /^\t+[0-9a-f]+: R_/ {
  pending_relocation = $0
  sub(/^\t+[0-9a-f]+: R_[^\t]*\t/, "", pending_relocation)
}

END {
  finish()
  if (found != 1) bad("the object has " found + 0 " functions named " function_name ", not one")
  print "count", instructions + 0, stores + 0, indirect + 0
}
