"""usage: message.py COUNT OUTPUT DUMP...: instructions of a message in this project's own code, and of a request in user space with
the library of the device, from callgrind's dumps of one_message and its output. Fails when one is above its limit. The limit of a
request with the device's library is Soft-RoCE's: the software device of tests/soft-verbs does the work of a network in there."""
import os
import re
import sys

LIMITS = {"request": 135, "arrival": 430}
WHOLE, SHARE = 400, 1 / 3  # of a request over Soft-RoCE: with its library; the part of this project in that

count = int(sys.argv[1])
with open(sys.argv[2], encoding="utf-8") as output:
    left_out = {part: int(times) / count for part, times in re.findall(r"\b(request|arrival) (\d+)$", output.read(), re.MULTILINE)}
parts = {}
for dump in sys.argv[3:]:
    with open(dump, encoding="utf-8") as lines:
        text = lines.read()
    trigger = re.search(r"^desc: Trigger: .*?(toggles|left_out|request|arrival|whole)\b", text, re.MULTILINE)
    total = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
    if trigger and total:
        parts[trigger.group(1)] = int(total.group(1)) / count
if sorted(parts) != ["arrival", "left_out", "request", "toggles", "whole"] or sorted(left_out) != ["arrival", "request"]:
    sys.exit(f"the dumps and the output do not have all parts: {parts}, {left_out}")
each = parts["left_out"] - parts["toggles"]
costs = {part: parts[part] - parts["toggles"] - left_out[part] * each for part in LIMITS}
failed = False
for part, cost in costs.items():
    print(f"{part}: {cost:.1f} instructions of this project's code, {LIMITS[part]} at most")
    failed = failed or not 50 < cost <= LIMITS[part]
print(f"a message: {sum(costs.values()):.1f}")
whole = parts["whole"] - parts["toggles"]
share = costs["request"] / whole
print(f"request with the device's library: {whole:.1f} instructions, of which {share:.3f} are this project's")
if os.path.exists("/sys/module/rdma_rxe"):
    print(f"Soft-RoCE: {WHOLE} and {SHARE:.3f} at most")
    failed = failed or whole > WHOLE or share > SHARE
sys.exit("FAILED: a message costs more than its limit" if failed else 0)
