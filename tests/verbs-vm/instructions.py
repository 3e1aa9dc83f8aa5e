"""usage: instructions.py PROFILE REQUESTS: of a request's instructions in user space, how many are spent before the
device's post_send is entered (callgrind's PROFILE of one_request). At most a third of all is wanted."""
import re
import sys

profile, requests = sys.argv[1], int(sys.argv[2])
names = {}  # number in brackets -> name, for objects


def name_of(text):
    number, _, name = text.partition(" ")
    if name:
        names[number] = name
    return names.get(number, "")


here = there = ""  # the object that calls, and the one that is called
called = ""  # the function
total = inside = calls = after = 0
is_call = False
with open(profile, encoding="utf-8") as lines:
    for line in map(str.rstrip, lines):
        if line.startswith("ob="):
            here = name_of(line[3:])
        elif line.startswith("cob="):
            there = name_of(line[4:])
        elif line.startswith("cfn="):
            called = name_of("f" + line[4:])
        elif line.startswith("fn="):
            name_of("f" + line[3:])
        elif line.startswith("calls="):
            is_call = True
            count = int(line[6:].split()[0])
        elif line.startswith("totals:"):
            total = int(line.split()[1])
        elif re.match(r"[+*0-9-]", line):
            if is_call and "poll_between" in called:
                after += int(line.split()[1])
            elif is_call and "librxe" in there and "librxe" not in here:
                inside += int(line.split()[1])
                calls += count
            if is_call:
                is_call = False
                there = ""

if requests == 0 or total == 0 or calls < requests:
    sys.exit(f"the profile has {total} instructions and {calls} calls of the device for {requests} requests")
# Of the poll that requests make now and then after the post only the device's part was not taken out.
ours, device = (total - inside - after) / requests, inside / requests
share = ours / (ours + device)
print(f"instructions of a request in user space: {ours:.0f} before the device's post_send is entered, "
      f"{device:.0f} in that of Soft-RoCE: {share:.2f} of all (0.33 at most wanted)")
# What libmlx5 does for an inline RDMA write with immediate value of one line: checks, three segments of a work queue
# entry of 128 bytes, the doorbell record, a fence, and 16 stores of 8 bytes to the device's page.
hardware = 200
print(f"estimate, not measured: with {hardware} instructions in a hardware provider's post_send "
      f"{ours / (ours + hardware):.2f} of all")
sys.exit(0 if share <= 1 / 3 else 1)
