"""Compares the activity of a network on burst and on NEST as publications of the microcircuit do.

    python microcircuit.py nest GENOME.yaml FOLDER SEEDS
    python microcircuit.py bin/burst GENOME.yaml FOLDER SEEDS [flags of burst run]
    python microcircuit.py compare FOLDER FOLDER

The first two run a genome once with each of SEEDS, such as 1..10, and write the spikes of 10 s after 0.5 s into the
folder. NEST's network is made from the genome's text (whole.py). SPAN (s) and THREADS in the environment are 10 and 2
unless given; a thread of NEST takes at most 134 M synapses of a kind, so that the whole microcircuit wants three.

The last one takes three distributions of each run and area, in as many seconds as the shortest run has: the rates of
all neurons, the coefficients of variation (CV) of the intervals between spikes of neurons with at least two, and the
correlations of all pairs of 200 neurons that fire, as numbers of spikes in bins of 2 ms. It prints the
Kolmogorov-Smirnov distances of these distributions between runs of both folders, and as the yardstick among runs of the
second one. p is the share of ways to deal the runs to two simulators, of 10,000 drawn, that part them at least as far:
mean distance between both less half of those within each. The means of runs have a p of their own: they see what shifts
a small share of many neurons.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import whole
import yaml

SETTLE = 0.5  # s
BIN = 2.0  # ms
SAMPLE = 200  # neurons of an area whose pairs are correlated
DEALS = 10_000
SECONDS = float(os.environ.get("SPAN", "10"))
QUANTITIES = ("rate", "CV", "correlation")

Array = npt.NDArray[Any]
Run = dict[tuple[str, str], Array]  # sorted samples of a run by area and quantity


def statistics(step: Array, neuron: Array, areas: dict[str, int], timestep: float, seconds: float) -> Run:
    """Rates, CVs and correlations in so many seconds; the spikes are those of one neuron after the other."""
    count = np.bincount(neuron, minlength=sum(areas.values()))
    same = neuron[1:] == neuron[:-1]
    interval, of = np.diff(step.astype(float))[same], neuron[1:][same]
    n = np.maximum(count.astype(float) - 1, 1)
    mean, square = (np.bincount(of, interval**k, len(count)) / n for k in (1, 2))
    cv = np.sqrt(np.maximum(square - mean**2, 0)) / np.maximum(mean, 1)
    width, bins = round(BIN / timestep), round(seconds * 1000 / BIN)
    found: Run = {}
    first = 0
    for name, size in areas.items():
        here = slice(first, first + size)
        found[name, "rate"] = count[here] / seconds
        found[name, "CV"] = cv[here][count[here] > 2]
        chosen = first + np.flatnonzero(count[here])[:SAMPLE]
        row = np.full(len(count), -1)
        row[chosen] = np.arange(len(chosen))
        mine = row[neuron] >= 0
        at = row[neuron[mine]] * bins + step[mine] // width
        trains = np.bincount(at, minlength=len(chosen) * bins).reshape(len(chosen), bins)
        correlation: Array = np.asarray(np.corrcoef(trains))
        found[name, "correlation"] = correlation[np.triu_indices(len(chosen), 1)]
        first += size
    return {key: np.sort(x) for key, x in found.items()}


def on_burst(
    program: str, genome: Path, g: dict[str, Any], seed: int, flags: list[str]
) -> tuple[Any, Any, dict[str, float]]:
    """Steps and neurons of the spikes after SETTLE, and times in seconds."""
    with tempfile.TemporaryDirectory() as made:
        out, spikes = Path(made, "run"), Path(made, "spikes.npz")
        length = ["--duration", f"{SETTLE + SECONDS}s", "--threads", os.environ.get("THREADS", "2")]
        command = [program, "run", str(genome), "--seed", str(seed), *length, "--record", "spikes=all"]
        done = subprocess.run([*command, *flags, "--out", str(out), "--json"], stdout=subprocess.PIPE, check=True)
        export = [program, "export", str(out), "-o", str(spikes), "--columns", "burst,neuron"]
        subprocess.run(export, stdout=subprocess.DEVNULL, check=True)
        r, found = json.loads(done.stdout), np.load(spikes)
        after = found["burst"] >= (settle := round(SETTLE * 1000 / whole.plain(g["timestep"])))
        times = {"build": sum(r[p] for p in ("read_s", "plan_s", "build_s", "open_s")), "simulate": r["run_s"]}
        return found["burst"][after] - settle, found["neuron"][after], times


def on_nest(g: dict[str, Any], seed: int) -> tuple[Any, Any, dict[str, float]]:
    """Steps and neurons of the spikes after SETTLE, and times in seconds."""
    import nest

    began = time.time()
    areas = whole.network(nest, g, int(os.environ.get("THREADS", "2")), seed)
    recorder = nest.Create("spike_recorder", params={"start": SETTLE * 1000, "time_in_steps": True})
    for cells in areas.values():
        nest.Connect(cells, recorder)
    nest.Prepare()
    built = time.time()
    nest.Run(SETTLE * 1000)
    settled = time.time()
    nest.Run(SECONDS * 1000)
    ran = time.time()
    nest.Cleanup()
    spikes = recorder.get("events")
    ids = np.concatenate([cells.tolist() for cells in areas.values()])  # ascending; a generator lies between two areas
    times = {"build": built - began, "settle": settled - built, "simulate": ran - settled}
    step = spikes["times"] - 1 - round(SETTLE * 1000 / whole.plain(g["timestep"]))
    return step, np.searchsorted(ids, spikes["senders"]), times


def run(simulator: str, genome: Path, folder: Path, seeds: str, flags: list[str]) -> None:
    """Runs a genome with each of the seeds A..B and writes the spikes of each into the folder."""
    g = yaml.safe_load(genome.read_text())
    names, sizes = zip(*((a["name"], a["neurons"]) for a in g["areas"]), strict=True)
    folder.mkdir(parents=True, exist_ok=True)
    low, _, high = seeds.partition("..")
    for seed in range(int(low), int(high or low) + 1):
        step, neuron, times = on_nest(g, seed) if simulator == "nest" else on_burst(simulator, genome, g, seed, flags)
        made = {"names": names, "timestep": whole.plain(g["timestep"]), "seconds": SECONDS}
        save(folder / f"{seed}.npz", step, neuron, sizes, **made)
        said = ", ".join(f"{phase} {s:.2f} s" for phase, s in times.items())
        print(f"{Path(simulator).name}, seed {seed}: {said}, {len(step)} spikes in {SECONDS:g} s", flush=True)


def save(file: Path, step: Array, neuron: Array, sizes: tuple[int, ...], **more: Any) -> None:
    """Writes the spikes of one neuron after the other, and how many each has."""
    order = np.lexsort((step, neuron))
    count = np.bincount(neuron, minlength=sum(sizes)).astype(np.uint32)
    np.savez_compressed(file, step=step[order].astype(np.uint32), count=count, sizes=sizes, **more)


def load(file: Path, seconds: float) -> Run:
    """The distributions of a run's first seconds."""
    x = np.load(file)
    areas = dict(zip(x["names"].tolist(), x["sizes"].tolist(), strict=True))
    timestep = float(x["timestep"])
    step, neuron = x["step"], np.repeat(np.arange(len(x["count"])), x["count"])
    keep = step < round(seconds * 1000 / timestep)
    return statistics(step[keep], neuron[keep], areas, timestep, seconds)


def distance(a: Array, b: Array) -> float:
    """The Kolmogorov-Smirnov distance: the largest difference of the cumulative distributions of sorted samples."""
    both = np.concatenate((a, b))
    parts = (np.searchsorted(x, both, side="right") / len(x) for x in (a, b))
    return float(np.abs(next(parts) - next(parts)).max())


def parted(d: Array, ours: int) -> float:
    """The p of distances of all pairs of runs, of which the first are ours."""
    n, draw = len(d), np.random.default_rng(0)
    a = np.array([np.arange(n) < ours, *(draw.permutation(n) < ours for _ in range(DEALS))]).astype(float)
    b = 1 - a
    between, within_a, within_b = (((x @ d) * y).sum(axis=1) for x, y in ((a, b), (a, a), (b, b)))
    theirs = n - ours
    within = within_a / max(ours * (ours - 1), 1) + within_b / (theirs * (theirs - 1))
    apart = between / (ours * theirs) - within / 2
    return float(np.mean(apart >= apart[0] - 1e-12))


def scatter(x: Array) -> str:
    """The mean, and the standard deviation of more than one value."""
    return f"{x.mean():.4f}" + (f" ± {x.std(ddof=1):.4f}" if len(x) > 1 else "")


def compare(ours: Path, theirs: Path) -> None:
    """Prints means and distances of every area and quantity."""
    files = [sorted(folder.glob("*.npz"), key=lambda f: int(f.stem)) for folder in (ours, theirs)]
    k = len(files[0])
    for folder, found, least in zip((ours, theirs), files, (1, 2), strict=True):
        if len(found) < least:
            sys.exit(f"{folder} has {len(found)} runs; at least {least} are wanted")
    seconds = min(float(np.load(f)["seconds"]) for f in itertools.chain(*files))
    runs = [load(f, seconds) for f in itertools.chain(*files)]
    print(f"{k} runs in {ours.name}, {len(files[1])} in {theirs.name}, {seconds:g} s of each\n")
    header = [
        "area",
        "quantity",
        ours.name,
        theirs.name,
        f"{ours.name}-{theirs.name}",
        f"among {theirs.name}",
        "p",
        "p of means",
    ]
    print("|", " | ".join(header), "|\n|" + " --- |" * len(header))
    sums = {q: np.zeros((len(runs), len(runs))) for q in QUANTITIES}
    for key in runs[0]:
        area, quantity = key
        d = np.zeros((len(runs), len(runs)))
        for i, j in itertools.combinations(range(len(runs)), 2):
            d[i, j] = d[j, i] = distance(runs[i][key], runs[j][key])
        sums[quantity] += d
        means = [np.array([r[key].mean() for r in x]) for x in (runs[:k], runs[k:])]
        between, among = d[:k, k:].ravel(), d[k:, k:][np.triu_indices(len(runs) - k, 1)]
        cells = [area, quantity, *(scatter(x) for x in (*means, between, among))]
        mean = np.concatenate(means)
        cells += [f"{parted(x, k):.3f}" for x in (d, np.abs(np.subtract.outer(mean, mean)))]
        print("|", " | ".join(cells), "|", flush=True)
    for quantity, d in sums.items():
        print(f"\n{quantity}, distances of all areas added: p = {parted(d, k):.4f}")


def main() -> None:
    """Runs a genome, or compares two folders."""
    what, *arguments = sys.argv[1:]
    if what == "compare":
        compare(*map(Path, arguments))
    else:
        genome, folder, seeds, *flags = arguments
        run(what, Path(genome), Path(folder), seeds, flags)


if __name__ == "__main__":
    main()
