#!/usr/bin/env bash
# browser_test.sh ROOT: a real browser shows the page of a recorded run at the widths of a phone, a tablet and a desk, light
# and dark: every plot is drawn and can be read, nothing is cut off, and the console has no error. It prints on paper, too.
set -euo pipefail
root=$1
for program in python3 gnuplot chromium; do
  command -v "$program" >/dev/null || { echo "skipped: there is no $program here"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong() { echo "browser_test: $*"; exit 1; }
python3 -B "$root/benchmarks/report" page "$root/tests/report/recorded.json" "$work/out" \
  --compare "$root/tests/report/recorded.json" >/dev/null

# browse OPTION... PAGE: chromium's output; its console is in $work/console.
browse() {
  HOME=$work timeout 200 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --enable-logging=stderr \
    --user-data-dir="$work/profile" --window-size=1400,1000 "$@" 2>"$work/console"
}

# looked_at SCHEME PAGE: what the frames found, at three widths.
looked_at() {
  python3 -B "$root/tests/report/browser_frame.py" "$2" "$1" 360 768 1280 >"$work/frame.html"
  local number=1
  [ "$1" = light ] || number=0
  browse --blink-settings=preferredColorScheme="$number" --virtual-time-budget=20000 --dump-dom "file://$work/frame.html" \
    >"$work/dom"
  ! grep -E 'CONSOLE.*(rror|arning)' "$work/console" || wrong "the console has errors"
  sed -n '/<pre id="found">/,/<\/pre>/p' "$work/dom" | sed -e 's/.*<pre id="found">//' -e 's/<\/pre>.*//'
}
for scheme in light dark; do
  looked_at "$scheme" "$work/out/report.html" >"$work/found"
  [ "$(grep -c ': good$' "$work/found")" -eq 3 ] || { cat "$work/found"; wrong "the $scheme page is not good"; }
done

# The test sees what is wrong: a plot without a part, text that is too small, an error in the console.
sed -E 's/(id="table2_plot_1")/\1 display="none"/' "$work/out/report.html" >"$work/broken.html"
grep -q 'plot-table2: table2_plot_1 is empty' <<<"$(looked_at light "$work/broken.html")" || wrong "does not see an empty plot"
sed -E 's/font-size="1[0-9]\.00"/font-size="5.00"/' "$work/out/report.html" >"$work/broken.html"
grep -q 'has text of' <<<"$(looked_at light "$work/broken.html")" || wrong "does not see small text"
sed 's|</main>|<script>nonsense()</script></main>|' "$work/out/report.html" >"$work/broken.html"
if (looked_at light "$work/broken.html") >/dev/null 2>&1; then wrong "does not see an error in the console"; fi

browse --no-pdf-header-footer --print-to-pdf="$work/page.pdf" "file://$work/out/report.html" >/dev/null
[ "$(head -c 5 "$work/page.pdf")" = '%PDF-' ] || wrong "the page does not print"
pages=$(grep -acE '/Type ?/Page$' "$work/page.pdf" || true)
[ "$pages" -ge 5 ] && [ "$pages" -le 25 ] || wrong "the page prints on $pages sheets"
