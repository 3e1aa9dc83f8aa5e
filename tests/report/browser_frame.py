#!/usr/bin/env python3
"""browser_frame.py PAGE dark|light WIDTH...: an HTML page that shows PAGE in frames of these widths, looks at each, and writes what it
finds into <pre id="found">: one line for each width, `good` or what is wrong."""
import json
import pathlib
import sys

SCRIPT = """
const found = [];
function luminance(color) {
  const parts = color.match(/[\\d.]+/g).slice(0, 3).map(part => part / 255)
    .map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
}
function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}
function look(frame, width) {
  const page = frame.contentDocument, wrong = [], view = frame.contentWindow;
  if (page.documentElement.scrollWidth > width) wrong.push('the page is ' + page.documentElement.scrollWidth + ' wide');
  const figures = [...page.querySelectorAll('figure')];
  if (figures.length < 10) wrong.push('only ' + figures.length + ' plots');
  for (const figure of figures) {
    const shown = [...figure.querySelectorAll('svg')].filter(svg => svg.getBoundingClientRect().width > 0);
    if (shown.length !== 1) { wrong.push(figure.id + ' shows ' + shown.length + ' plots'); continue; }
    const box = shown[0].getBoundingClientRect();
    if (box.width < 0.6 * Math.min(width, 990) || box.height < 80) wrong.push(figure.id + ' is ' + box.width + ' x ' + box.height);
    const parts = [...shown[0].querySelectorAll('g[id*="_plot_"]')];
    if (parts.length < figure.dataset.series) wrong.push(figure.id + ' has ' + parts.length + ' parts');
    for (const part of parts) {
      const inside = part.getBoundingClientRect();
      if (inside.width + inside.height <= 0 && !part.querySelector('text')) wrong.push(figure.id + ': ' + part.id + ' is empty');
    }
    const texts = [...shown[0].querySelectorAll('text')].map(text => text.getBoundingClientRect());
    const size = Math.min(...texts.map(text => text.height));
    if (!(size >= 9)) wrong.push(figure.id + ' has text of ' + size + ' pixels');
    if (texts.some(text => text.left < box.left - 1 || text.right > box.right + 1)) wrong.push(figure.id + ' cuts off a text');
    const ground = view.getComputedStyle(page.body).backgroundColor;
    for (const mark of shown[0].querySelectorAll('g[id*="_plot_"] path[stroke^="var"]'))
      if (contrast(view.getComputedStyle(mark).stroke, ground) < 3) { wrong.push(figure.id + ' has a line that is hardly seen'); break; }
    for (const text of shown[0].querySelectorAll('text'))
      if (text.closest('g[id*="_plot_"]') === null && contrast(view.getComputedStyle(text).fill, ground) < 4.5) {
        wrong.push(figure.id + ' has a text that is hardly read'); break;
      }
  }
  const ground = luminance(view.getComputedStyle(page.body).backgroundColor);
  if (DARK ? ground > 0.1 : ground < 0.9) wrong.push('the ground has luminance ' + ground);
  if (page.querySelectorAll('.number').length !== 5) wrong.push('not five numbers');
  for (const answer of page.querySelectorAll('.answer'))
    if (answer.scrollWidth > answer.clientWidth) wrong.push('the number ' + answer.textContent + ' does not fit its box');
  const first = page.querySelector('.numbers').getBoundingClientRect();
  if (width > 900 && first.bottom > 800) wrong.push('the five numbers do not fit the first screen: ' + first.bottom);
  found.push(width + ': ' + (wrong.length ? wrong.join('; ') : 'good'));
}
window.onerror = (message) => found.push('script: ' + message);
let left = WIDTHS.length;
for (const width of WIDTHS) {
  const frame = document.createElement('iframe');
  frame.style = 'border: 0; display: block; height: 1000px; width: ' + width + 'px';
  frame.onload = () => {
    look(frame, width);
    if (--left === 0) document.getElementById('found').textContent = found.join('\\n');
  };
  frame.srcdoc = PAGE;
  document.body.append(frame);
}
"""


def main(page, dark, *widths):
    text = json.dumps(pathlib.Path(page).read_text(encoding="utf-8")).replace("</", "<\\/")
    print(f'<!DOCTYPE html><meta charset="utf-8"><body><pre id="found"></pre><script>const PAGE = {text}, '
          f"WIDTHS = [{','.join(widths)}], DARK = {'true' if dark == 'dark' else 'false'};{SCRIPT}</script></body>")


main(*sys.argv[1:])
