"""Runs three networks on burst, NEST and Brian2, each in a process of its own, and prints a Markdown table.

    python -m venv .peers && .peers/bin/pip install nest-simulator==3.10 brian2 "numpy<2.4"
    BURST_PROGRAM=bin/burst PYTHONPATH=python/src .peers/bin/python python/bench/peers/run.py

Lines are those of the program that are neither empty nor comments. Time to first spikes is from the start of Python
until a piece of 10 ms has brought spikes; Brian2 compiles in that time, into an empty cache. Then 3 s of the network
are run. Of ROUNDS rounds, 2 unless given, in which the simulators take turns, the best counts. All run in THREADS
threads, 1 unless given, except Brian2, whose generated code has one.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
NETWORKS = {
    "balanced": "random balanced, 5,000 LIF",
    "conductances": "4,000 LIF with conductances",
    "stdp": "1,000 inputs that learn",
}
SIMULATORS = {"burst": "burst", "nest": "NEST", "brian": "Brian2"}
PIECES = 3  # seconds of the network
ROUNDS = int(os.environ.get("ROUNDS", "2"))
THREADS = os.environ.get("THREADS", "1")
PATHS = ("BURST_PROGRAM", "PYTHONPATH")  # one each, which programs in another folder find, too

# What follows each program: it has run(ms) and spikes().
HARNESS = f"""
import glob, json, os, sys, time

def processor(): # seconds of this process and of those that it has started and that go on
    found = {{}}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            words = open(path).read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        found[int(path.split("/")[2])] = int(words[1]), int(words[11]) + int(words[12])
    mine = {{os.getpid()}}
    while more := {{pid for pid, (parent, _) in found.items() if parent in mine}} - mine:
        mine |= more
    return sum(found[pid][1] for pid in mine) / os.sysconf("SC_CLK_TCK")

while spikes() == 0:
    run(10.0)
first = time.time() - float(os.environ["BEGAN"])
spikes_before, began, used = spikes(), time.perf_counter(), processor()
for _ in range({PIECES}):
    run(1000.0)
took, used = time.perf_counter() - began, processor() - used
rate, took, used = (x / {PIECES} for x in (spikes() - spikes_before, took, used))
print("RESULT", json.dumps({{"first": first, "second": took, "cpu": used, "spikes": rate}}), flush=True)
"""


def measure(program: Path) -> dict[str, float]:
    """Runs a program to its end."""
    with tempfile.TemporaryDirectory() as home:
        text = f"THREADS = {THREADS}\n" + program.read_text() + HARNESS
        env = {
            **os.environ,
            **{name: os.path.abspath(os.environ[name]) for name in PATHS if os.environ.get(name)},
            "HOME": home,
            "XDG_CACHE_HOME": home,
            "BEGAN": repr(time.time()),
            "OMP_NUM_THREADS": THREADS,
        }
        done = subprocess.run(
            [sys.executable, "-c", text], env=env, capture_output=True, text=True, cwd=home, check=False
        )
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            found: dict[str, float] = json.loads(line.removeprefix("RESULT "))
            return found
    raise SystemExit(f"{program.name}: status {done.returncode}\n{done.stdout}\n{done.stderr}")


def main() -> None:
    """Prints the table."""
    chosen = sys.argv[1:] or [f"{n}_{s}" for n in NETWORKS for s in SIMULATORS]
    print("| network | simulator | lines | to first spikes | a second of it | in processor time | spikes a second |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    rounds = [{name: measure(HERE / f"{name}.py") for name in chosen} for _ in range(ROUNDS)]
    for name in chosen:
        text = (HERE / f"{name}.py").read_text()
        lines = sum(1 for x in text.splitlines() if x.strip() and not x.strip().startswith("#"))
        x = {key: min(r[name][key] for r in rounds) for key in rounds[0][name]}
        network, simulator = name.split("_")
        times = [f"{x['first']:.2f} s", f"{x['second']:.3f} s", f"{x['cpu']:.3f} s", f"{x['spikes']:,.0f}"]
        print("|", " | ".join([NETWORKS[network], SIMULATORS[simulator], str(lines), *times]), "|")


if __name__ == "__main__":
    main()
