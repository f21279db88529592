"""Measures a lock-step burst from Python beyond the burst itself: 256 B in, 1 KB out.

Usage: python round_trip.py [STEPS]. Each figure is of single calls, in microseconds; the burst of a network of 320
neurons in silence takes about one of them. "socket" is what the same frames take without this package's code.
"""

import os
import socket
import sys
import time
from pathlib import Path

import numpy as np

import burst
from burst import _client

GENOME = {
    "burst": "v1",
    "name": "echo",
    "areas": [{"name": "in", "neurons": 64, "threshold": 100}, {"name": "out", "neurons": 256, "threshold": 100}],
}


def told(name: str, seconds: list[float]) -> None:
    """Prints the quantiles."""
    p50, p90, p99 = np.percentile(np.array(seconds) * 1e6, [50, 90, 99])
    print(f"{name:10} p50 {p50:6.1f}  p90 {p90:6.1f}  p99 {p99:6.1f} us")


def main(steps: int) -> None:
    """Measures."""
    with burst.load(GENOME, threads=1, out=False, backend="cpu") as net:
        into, out = net.input("in", largest=1), net.output("out")
        x = np.zeros(64, np.float32)
        clock = time.perf_counter
        for _ in range(1000):
            net.step(1, {into: x})
        took = []
        for _ in range(steps):
            began = clock()
            answer = net.step(1, {into: x})
            took.append(clock() - began)
        assert answer[out].nbytes == 1024
        told("net.step", took)

        child = net._child
        assert child is not None
        s: socket.socket = child._socket
        bare, buffer, at = [], bytearray(4096), child.burst
        body = (1).to_bytes(4, "little") + b"\1\0\0\0" + into.head + x.tobytes()
        for k in range(steps):
            frame = _client.HEADER.pack(len(body), _client.STEP, 1, 0, at + k) + body
            began = clock()
            s.sendall(frame)
            s.recv_into(buffer)
            bare.append(clock() - began)
        told("socket", bare)
        print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {Path('/proc/version').read_text().split()[2]}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
