# With run_figures.awk before it: prints a summary for a person, in at most 100 columns. LogP's parameters stand in one line,
# then come ten figures, each beside what the machine itself can do and beside its limit.

function logp() {
  if (!("o_s_ns" in median && "o_r_ns" in median && "L_ns" in median && "g_ns" in median)) {
    print "LogP: not measured"
    return
  }
  printf "LogP: o %s ns, L %s ns, g %s ns", significant((median["o_s_ns"] + median["o_r_ns"]) / 2),
         significant(median["L_ns"]), significant(median["g_ns"])
  if ("G_ns_per_byte" in median) printf ", G %s ns a byte", significant(median["G_ns_per_byte"])
  print "  (o: mean of sending and receiving)"
}
END {
  logp()
  printf "\n%-43s %10s %13s %6s  %s\n", "", "measured", "this machine", "ratio", "wanted"
  for (i = 1; i <= lines; ++i) {
    f = name[i]
    if (!(f in median) || ratio[f] == "-") {
      printf "%-43s not measured\n", words[i]
      continue
    }
    met = kind[i] == "most" ? ratio[f] + 0 <= bar[i] : ratio[f] + 0 >= bar[i]
    good += met
    printf "%-43s %10s %13s %6.2f  at %-5s %.2f  %s\n", words[i], amount(median[f], unit[f]), amount(own[f], unit[f]),
           ratio[f], kind[i], bar[i], met ? "met" : "MISSED"
  }
  printf "\n%d of %d limits met.\n", good, lines
  if (suspects) printf "The machine was busy or is slow: %d of its own figures are suspect, and their ratios flatter.\n", suspects
}
