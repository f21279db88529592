"""Compares `net.run` with `burst run` on the same network by the processor time of their bursts.

Usage: python long_run.py [GENOME [BURSTS [PIECES [THREADS]]]]. Both build the network and run BURSTS; then both run as
many again, PIECES times, at the same time on one processor, so that what else the machine does meets both. Of the
module the time of Python counts, too. Nothing is recorded. Both must come to the same digest. It needs Linux.
"""

import os
import signal
import statistics
import subprocess
import sys
import threading

import burst
from burst import _program


def used(pid: int) -> float:
    """The processor time of all threads of a process."""
    folder = f"/proc/{pid}/task"
    total = 0
    for thread in os.listdir(folder):
        with open(f"{folder}/{thread}/schedstat") as f:
            total += int(f.read().split()[0])
    return total / 1e9


def main(genome: str, bursts: int, pieces: int, threads: str) -> None:
    """Measures."""
    flags = ["--no-out", "--quiet", "--backend", "cpu", "--threads", threads, "--digest", f"every={bursts}"]
    command = [_program.find(), "run", genome, "--bursts", str(bursts * (pieces + 2)), *flags]
    line = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    said = line.stdout
    assert said is not None
    said.readline()
    line.send_signal(signal.SIGSTOP)
    ends = [used(line.pid)]  # of pieces of the program, by its processor time
    with burst.load(genome, threads=int(threads), out=False, backend="cpu", progress=False) as net:
        net.run(bursts)
        child = net._child
        assert child is not None
        ours = (os.getpid(), child._process.pid)
        for pid in (*ours, line.pid):
            for thread in os.listdir(f"/proc/{pid}/task"):
                os.sched_setaffinity(int(thread), {max(os.sched_getaffinity(0))})

        def follow() -> None:
            for _ in range(pieces):
                said.readline()
                ends.append(used(line.pid))

        follower = threading.Thread(target=follow)
        follower.start()
        line.send_signal(signal.SIGCONT)
        at = [sum(map(used, ours))]
        for _ in range(pieces):
            net.run(bursts)
            at.append(sum(map(used, ours)))
        follower.join()
        digest = net.run(bursts).digest
    assert said.read().split()[-1] == digest
    ratios = []
    for k in range(pieces):
        program, module = ends[k + 1] - ends[k], at[k + 1] - at[k]
        ratios.append(module / program)
        print(f"{k + 1} burst run {program:.3f} s, net.run {module:.3f} s, ratio {ratios[-1]:.4f}")
    whole = (at[-1] - at[0]) / (ends[-1] - ends[0])
    print(f"net.run / burst run: {whole:.4f}, median {statistics.median(ratios):.4f}, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    given = sys.argv[1:] + ["potjans-diesmann-10", "100000", "9", "1"][len(sys.argv) - 1 :]
    main(given[0], int(given[1]), int(given[2]), given[3])
