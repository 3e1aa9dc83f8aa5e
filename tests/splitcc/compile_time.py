#!/usr/bin/env python3
"""compile_time.py BEFORE NOW FOLDER [FILE...]: how long two splitcc take to compile the same files.

The two take turns, 15 times for each file, at -O2 -c; the time is the processor's (of all that splitcc starts), the least
of all turns. Without files those of examples/split-c are taken. Prints a table and the geometric mean of the ratios."""
import glob
import math
import os
import resource
import subprocess
import sys

ROUNDS = 15


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    compilers, folder = sys.argv[1:3], sys.argv[3]
    here = os.path.dirname(os.path.abspath(__file__))
    files = sys.argv[4:] or sorted(glob.glob(os.path.join(here, "../../examples/split-c/*.sc")))
    os.makedirs(folder, exist_ok=True)
    ratios = []
    print(f"{'file':24} {'before s':>9} {'now s':>9} {'ratio':>6}")
    for name in files:
        least = [math.inf, math.inf]
        for turn in range(ROUNDS):
            for which in (0, 1) if turn % 2 == 0 else (1, 0):
                command = [compilers[which], "-w", "-O2", "-c", name, "-o", os.path.join(folder, "object.o")]
                least[which] = min(least[which], seconds(command))
        ratios.append(least[1] / least[0])
        print(f"{os.path.basename(name):24} {least[0]:9.3f} {least[1]:9.3f} {ratios[-1]:6.3f}")
    print(f"geometric mean of {len(ratios)} ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}")


if __name__ == "__main__":
    main()
