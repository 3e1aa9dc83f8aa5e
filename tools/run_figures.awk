# Reads figures for run_summary.awk and run_picture.awk: from the tables of the benchmarks, or from the table in README.md.
# Of a figure that is in several tables the first counts. The limits are those of README.md.
#
# A benchmark's line: NAME MIN MEDIAN P95 UNIT RATIO OTHER OTHER_NAME; the ratio is the median's to the other figure's.
# README.md's line:   | TEXT: `NAME` | MEDIAN UNIT | OTHER UNIT | **RATIO** | LIMIT |

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
/^\| .*: `[a-z0-9_]+` \|/ {
  match($0, /`[a-z0-9_]+` \|/)
  f = substr($0, RSTART + 1, RLENGTH - 4)
  gsub(/[*,]/, "")
  split($0, cell, / *\| */)
  if (cell[3] ~ /^[0-9.]+ [a-zA-Z\/]+$/ && !(f in median)) {
    split(cell[3], part, " "); median[f] = part[1]; unit[f] = part[2]
    split(cell[4], part, " "); own[f] = part[1]
    ratio[f] = cell[5]
  }
}
$NF == "SUSPECT" && !($1 in suspect) { suspect[$1] = 1; ++suspects }

# significant(X): X with three digits that count, without an exponent.
function significant(x) {
  if (x < 0) return "-" significant(-x)
  if (x >= 100) return sprintf("%.0f", x)
  if (x >= 10) return sprintf("%.1f", x)
  return sprintf(x >= 1 ? "%.2f" : "%.3f", x)
}
function amount(value, unit) { return significant(value) " " unit }
