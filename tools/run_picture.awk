# With run_figures.awk before it: prints ten figures as a picture (SVG). A bar is as long as the figure is fast beside the
# machine itself: 100 % is the machine's own speed, measured in the same run.

function text(x, y, anchor, size, words) {
  printf "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\" font-size=\"%d\">%s</text>\n", x, y, anchor, size, words
}
function at(percent) { return left + percent * 1.6 }

END {
  left = 290; top = 48; step = 24; most = 160 # per cent
  width = at(most) + 200; height = top + lines * step + 12
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\"", width, height, width, height
  print " font-family=\"sans-serif\" fill=\"#222\">"
  printf "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", width, height
  text(10, 18, "start", 14, "Speed beside the machine&#8217;s own, measured in the same run")
  for (percent = 0; percent <= most; percent += 50) {
    printf "<path d=\"M%d %dV%d\" stroke=\"%s\"/>\n", at(percent), top - 6, height - 12, percent == 100 ? "#222" : "#ccc"
    text(at(percent), top - 10, "middle", 11, percent " %")
  }
  for (i = 1; i <= lines; ++i) {
    f = name[i]
    y = top + (i - 1) * step
    text(left - 8, y + 14, "end", 12, words[i])
    if (!(f in median) || ratio[f] + 0 <= 0) {
      text(left + 6, y + 14, "start", 11, "not measured")
      continue
    }
    percent = kind[i] == "most" ? 100 / ratio[f] : 100 * ratio[f]
    printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"14\" fill=\"%s\"/>\n", left, y + 3,
           at(percent > most ? most : percent) - left, f in suspect ? "#bbb" : words[i] ~ /^Split-C/ ? "#2a7f62" : "#2b6cb0"
    text(at(most) + 12, y + 14, "start", 11, amount(median[f], unit[f]) ", machine " amount(own[f], unit[f]))
  }
  print "</svg>"
}
