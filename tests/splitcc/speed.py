#!/usr/bin/env python3
"""speed.py SPLITCC FOLDER: 10,000 lines are translated in less than 2 seconds (of processor time: others may be busy)."""
import os
import resource
import subprocess
import sys

LINES = 10000


def main():
    splitcc, folder = sys.argv[1], sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(folder, "long.sc")
    with open(source, "w", encoding="ascii") as out:
        out.write("#include <stdio.h>\n#include <stdlib.h>\n#include <math.h>\n#include <split-c/split-c.h>\n")
        lines = 4
        function = 0
        while lines < LINES:
            body = [f"double work_{function}(n, A, g, p) int n; double A[n]::[n]; double *global g; int *spread p;", "{",
                    "    int i, j;", "    double sum = 0, block[16];"]
            for k in range(10):
                body += [f"    for (i = MYPROC; i < n; i += PROCS) {{", f"        A[i][{k}] = g[i] * {k}.5 + sqrt(sum);",
                         f"        if (p[i] > {k} && g != 0) sum += *(g + i) + toproc(p);", f"        block[{k}] := A[i][{k}];",
                         "    }", "    sync();", f"    p[{k}] :- i + {k};", "    sum += block[0] - p[1] * j;"]
            body += ["    return sum;", "}", ""]
            out.write("\n".join(body) + "\n")
            lines += len(body)
            function += 1
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([splitcc, "-Wno-remote-loop", "--emit-c", source, "-o", os.path.join(folder, "long.c")], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{lines} lines in {seconds:.2f} s")
    return 0 if seconds < 2 else 1


if __name__ == "__main__":
    sys.exit(main())
