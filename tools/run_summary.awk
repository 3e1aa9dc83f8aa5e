# Reads the tables of the benchmarks and prints their summary for a person, in at most 100 columns: LogP's parameters in
# one line, then ten figures, each beside what the machine itself can do and beside its limit. Of a figure that is in
# several tables the first counts. The limits are those of README.md.
#
# A table's line: NAME MIN MEDIAN P95 UNIT RATIO OTHER OTHER_NAME; the ratio is the median's to the other figure's.

function line(figure, least_or_most, limit, sentence) {
  ++lines
  name[lines] = figure; kind[lines] = least_or_most; bar[lines] = limit; words[lines] = sentence
}
BEGIN {
  line("vi_rtt_half_ns", "most", 1.05, "16 bytes through a native VI, one way")
  line("am_short_rtt_half_ns", "most", 1.10, "short Active Message, one way")
  line("am_oneway_mps", "least", 0.5, "Active Messages in one direction")
  line("am_flood_mps", "least", 0.15, "requests with their replies")
  line("am_bulk_1m_gbs", "least", 0.95, "1 MiB by Active Message, and read there")
  line("am_blocked_rtt_half_ns", "most", 2, "message that wakes a sleeping rank")
  line("store_mps", "least", 0.5, "Split-C: words stored and counted")
  line("barrier_2_ns", "most", 1.3, "Split-C: barrier of two processes")
  line("splitc_bulk_1m_gbs", "least", 0.95, "Split-C: 1 MiB by bulk_put, and read there")
  line("gups_mapped_mups", "least", 0.95, "Split-C: random updates in place")
}
!($1 in median) && $3 ~ /^-?[0-9.]+$/ && $6 ~ /^(-|-?[0-9.]+)$/ && NF >= 8 {
  median[$1] = $3; ratio[$1] = $6; unit[$1] = $5; own[$1] = $7
}
$NF == "SUSPECT" && !($1 in suspect) { suspect[$1] = 1; ++suspects }

# significant(X): X with three digits that count, without an exponent.
function significant(x) {
  if (x >= 100) return sprintf("%.0f", x)
  if (x >= 10) return sprintf("%.1f", x)
  return sprintf(x >= 1 ? "%.2f" : "%.3f", x)
}
function amount(value, unit) { return significant(value) " " unit }

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
