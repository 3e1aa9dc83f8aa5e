# Reads the tables of the benchmarks; prints ten lines for a person: each figure, its limit, met or missed. Of a figure
# that is in several tables the first counts. The limits are those of README.md.
#
# A table's line: NAME MIN MEDIAN P95 UNIT RATIO OTHER OTHER_NAME; the ratio is the median's to the other figure's.

function line(figure, least_or_most, limit, sentence) {
  ++lines
  name[lines] = figure; kind[lines] = least_or_most; bar[lines] = limit; words[lines] = sentence
}
BEGIN {
  line("vi_rtt_half_ns", "most", 1.05, "a message of 16 bytes through a native VI arrives after")
  line("am_short_rtt_half_ns", "most", 1.10, "a short Active Message arrives after")
  line("am_oneway_mps", "least", 0.5, "Active Messages one way, each second:")
  line("am_flood_mps", "least", 0.15, "requests with their replies, each second:")
  line("am_bulk_1m_gbs", "least", 0.95, "1 MiB by an Active Message, and read there:")
  line("am_blocked_rtt_half_ns", "most", 2, "a message wakes a rank that sleeps after")
  line("store_mps", "least", 0.5, "Split-C: words stored and counted, each second:")
  line("barrier_2_ns", "most", 1.3, "Split-C: a barrier of two processes takes")
  line("splitc_bulk_1m_gbs", "least", 0.95, "Split-C: 1 MiB by bulk_put, and read there:")
  line("gups_mapped_mups", "least", 0.95, "Split-C: random updates in place, each second:")
}
!($1 in median) && $3 ~ /^-?[0-9.]+$/ && $6 ~ /^-?[0-9.]+$/ && NF >= 8 {
  median[$1] = $3; ratio[$1] = $6; unit[$1] = $5; own[$1] = $7
}
$NF == "SUSPECT" && !($1 in suspect) { suspect[$1] = 1; ++suspects }
function amount(value, unit) {
  if (unit == "M/s") return value " million"
  return value " " unit
}
END {
  for (i = 1; i <= lines; ++i) {
    f = name[i]
    if (!(f in median)) {
      printf "  %-12s %s\n", "not measured", words[i]
      continue
    }
    met = kind[i] == "most" ? ratio[f] + 0 <= bar[i] : ratio[f] + 0 >= bar[i]
    good += met
    printf "  %-12s %s %s; the machine itself: %s; ratio %.2f, wanted at %s %.2f\n", met ? "met" : "MISSED", words[i],
           amount(median[f], unit[f]), amount(own[f], unit[f]), ratio[f], kind[i], bar[i]
  }
  printf "%d of %d limits met.", good, lines
  if (suspects) printf " The machine was busy or is slow: %d of its own figures are suspect.", suspects
  print ""
}
