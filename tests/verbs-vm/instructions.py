"""usage: instructions.py REQUESTS DUMP...: of a request's instructions in user space, how many are spent before the device's
post_send is entered (callgrind's dumps of one_request). At most a third of all is wanted."""
import re
import sys

requests = int(sys.argv[1])
parts = {}
for dump in sys.argv[2:]:
    with open(dump, encoding="utf-8") as lines:
        text = lines.read()
    trigger = re.search(r"^desc: Trigger: .*?(toggles|way_there|device)\b", text, re.MULTILINE)
    total = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
    if trigger and total:
        parts[trigger.group(1)] = int(total.group(1)) / requests
if sorted(parts) != ["device", "toggles", "way_there"] or not 0 < parts["toggles"] < min(parts["device"], parts["way_there"]):
    sys.exit(f"the dumps do not have the three parts: {parts}")
ours, device = parts["way_there"] - parts["toggles"], parts["device"] - parts["toggles"]
share = ours / (ours + device)
print(f"instructions of a request in user space: {ours:.1f} before the device's post_send is entered, "
      f"{device:.1f} in that of Soft-RoCE: {share:.3f} of all (0.333 at most wanted); "
      f"{parts['toggles']:.1f} for the counting itself were taken off")
# What libmlx5 does for an inline RDMA write with immediate value of one line: checks, three segments of a work queue
# entry of 128 bytes, the doorbell record, a fence, and 16 stores of 8 bytes to the device's page.
hardware = 200
print(f"estimate, not measured: with {hardware} instructions in a hardware provider's post_send "
      f"{ours / (ours + hardware):.2f} of all")
sys.exit(0 if share <= 1 / 3 else 1)
