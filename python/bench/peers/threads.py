"""Times a step of examples on burst and on NEST with 1, 2, 4, 8 and 16 threads, as Markdown tables.

    make bench-threads

NEST's networks are made from the text, as whole.py says. A step's time is the mean of those that `burst bench`
measures, and of as many of NEST after as many before; of burst-100k and burst-1m, whose bursts are all alike, of fewer.
THREADS and NETWORKS name others than these.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import whole
import yaml

THREADS = os.environ.get("THREADS", "1,2,4,8,16")
NETWORKS = os.environ.get("NETWORKS", "brunel-c,potjans-diesmann-10,burst-100k,burst-1m").split(",")
# of NEST, before it is measured and then
STEPS = {"brunel-c": (500, 1000), "burst-100k": (100, 100), "burst-1m": (20, 40)}
USUAL = (1000, 1000)


def by_target(g: dict[str, Any]) -> None:
    """Gives each neuron the mean number of sources. NEST builds that with all threads, fixed_outdegree with one."""
    neurons = {a["name"]: a["neurons"] for a in g["areas"]}
    for p in g["projections"]:
        p |= {"rule": "fixed_indegree", "indegree": p.pop("outdegree") * neurons[p["from"]] // neurons[p["to"]]}


def on_nest(genome: Path) -> None:
    """Prints for each number of threads what building took, what a step takes, and how many neurons fire in it."""
    import nest

    g = yaml.safe_load(genome.read_text())
    if genome.stem == "burst-1m":
        by_target(g)
    before, steps = STEPS.get(genome.stem, USUAL)
    for threads in THREADS.split(","):
        began = time.time()
        whole.network(nest, g, int(threads), 1 + g["seed"])
        nest.Prepare()
        built = time.time()
        nest.Run(before * 0.1)
        warm = time.time()
        nest.Run(steps * 0.1)
        ran = time.time() - warm
        nest.Cleanup()
        spikes = nest.GetKernelStatus("local_spike_counter")  # since the last Run
        print("RESULT", json.dumps([ran / steps * 1e6, built - began, spikes / steps]), flush=True)


def row(name: str, cells: list[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join([name, *cells])} |"


def main() -> None:
    """Prints a table for each network."""
    if sys.argv[1] == "--nest":
        on_nest(Path(sys.argv[2]))
        return
    burst, folder = sys.argv[1], Path(sys.argv[2])
    for name in NETWORKS:
        command = [burst, "bench", name, "--backend", "cpu", "--threads", THREADS, "--json"]
        ours = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        command = [sys.executable, __file__, "--nest", str(folder / f"{name}.yaml")]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        theirs = [json.loads(line) for line in re.findall("RESULT (.*)", out)]
        print(row(name, [f"{t} threads" for t in THREADS.split(",")]))
        print(row("---", ["---"] * len(ours)))
        for label, which in (("burst, mean", "mean"), ("burst, median", "p50")):
            print(row(label, [f"{r['burst_us'][which]:.1f} µs" for r in ours]))
        print(row("NEST, mean", [f"{t[0]:,.0f} µs" for t in theirs]))
        print(row("times faster", [f"{t[0] / r['burst_us']['mean']:.0f}" for r, t in zip(ours, theirs, strict=True)]))
        print(row("NEST built in", [f"{t[1]:.1f} s" for t in theirs]))
        fire = [f"{r['spikes_per_burst']:.1f} and {t[2]:.1f}" for r, t in zip(ours, theirs, strict=True)]
        print(row("spikes a step, burst and NEST", fire), flush=True)
        print(flush=True)


if __name__ == "__main__":
    main()
