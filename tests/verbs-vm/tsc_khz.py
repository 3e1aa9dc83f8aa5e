"""tsc_khz.py: the frequency of this machine's time-stamp counter, in kHz. An emulated guest reads the same counter, and on a
busy host measures it wrongly, by a factor: its clock is then wrong for good."""

import ctypes
import mmap
import time

READ_TSC = b"\x0f\x31\x48\xc1\xe2\x20\x48\x09\xd0\xc3"  # rdtsc; rdx <<= 32; rax |= rdx; ret

code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(READ_TSC)
read_tsc = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(code)))


def both_clocks() -> tuple[int, int]:
    """Nanoseconds and ticks of one moment: of many readings the one that took least."""
    best = None
    for _ in range(200):
        before = time.monotonic_ns()
        ticks = read_tsc()
        after = time.monotonic_ns()
        if best is None or after - before < best[0]:
            best = (after - before, (before + after) // 2, ticks)
    return best[1], best[2]


first_ns, first_ticks = both_clocks()
time.sleep(0.2)
last_ns, last_ticks = both_clocks()
print((last_ticks - first_ticks) * 1_000_000 // (last_ns - first_ns))
