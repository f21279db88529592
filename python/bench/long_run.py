"""Compares `net.run` with `burst run` on the same network by processor time, without the start of either.

Usage: python long_run.py [GENOME [BURSTS [ROUNDS [THREADS]]]]. In each round both run at the same time on one
processor, so that what else the machine does meets both, first a tenth of the BURSTS, then all; what counts is the
difference, user and system. Nothing is recorded. Both must come to the same digest.
"""

import os
import statistics
import subprocess
import sys

import burst
from burst import _program

OWN = """import sys, burst
with burst.load(sys.argv[1], threads=int(sys.argv[3]), out=False, backend="cpu", progress=False) as net:
    print(net.run(int(sys.argv[2])).digest)"""


def used(commands: list[list[str]]) -> list[tuple[float, str]]:
    """Of processes beside each other the processor time, with that of their children, and the last word they print."""
    running = [subprocess.Popen(c, stdout=subprocess.PIPE, text=True) for c in commands]
    found = []
    for p in running:
        assert p.stdout is not None
        out = p.stdout.read()
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        assert p.returncode == 0, p.args
        found.append((usage.ru_utime + usage.ru_stime, out.split()[-1]))
    return found


def main(genome: str, bursts: int, rounds: int, threads: str) -> None:
    """Measures."""
    flags = ["--no-out", "--quiet", "--backend", "cpu", "--threads", threads]

    def line(n: int) -> list[str]:
        return [_program.find(), "run", genome, "--bursts", str(n), *flags]

    def module(n: int) -> list[str]:
        return [sys.executable, "-c", OWN, genome, str(n), threads]

    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    found: dict[str, list[float]] = {"burst run": [], "net.run": []}
    for k in range(rounds):
        start, whole = used([line(bursts // 10), module(bursts // 10)]), used([line(bursts), module(bursts)])
        assert whole[0][1] == whole[1][1], whole
        for times, before, after in zip(found.values(), start, whole, strict=True):
            times.append(after[0] - before[0])
        print(k + 1, *(f"{name} {times[-1]:.3f} s" for name, times in found.items()), flush=True)
    for name, times in found.items():
        print(f"{name:9} median {statistics.median(times):.3f} s, least {min(times):.3f} s")
    ratios = [b / a for a, b in zip(*found.values(), strict=True)]
    print(f"net.run / burst run: median {statistics.median(ratios):.4f} of {min(ratios):.4f} to {max(ratios):.4f}")
    print(f"load {os.getloadavg()[0]:.1f}, burst {burst.__version__}")


if __name__ == "__main__":
    given = sys.argv[1:] + ["potjans-diesmann-10", "100000", "9", "1"][len(sys.argv) - 1 :]
    main(given[0], int(given[1]), int(given[2]), given[3])
