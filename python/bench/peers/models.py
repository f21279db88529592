"""Compares neuron models with NEST over parameters drawn at random (ranges.py), and prints a Markdown table.

    pip install nest-simulator==3.10 numpy pyarrow
    python models.py BURST --models adex,gif --sets 6 --seed 1 --timesteps 0.05,0.1,0.2

For each set of parameters: the rate at 1.05, 1.3, 2 and 5 times the rheobase, from spikes after 500 of 2,000 ms; the
peak of V after one weak and one strong spike of excitation and of inhibition; and 300 ms of trains of both, from
another V, at 0.6, 1.2 and 2.5 times the rheobase. Equal means that every spike is in the same step.
"""

import argparse
import json
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import nest
import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
from ranges import MODELS, NAMES, Model, Params

Numbers = npt.NDArray[Any]
UNITS = {"V": " mV", "w": " pA", "u": ""}
STATES = {"V": "V_m", "w": "w", "u": "U_m"}
# Ranges of weights by their unit, for excitation and inhibition: a weak spike, a strong one, those of a train.
WEIGHTS = {
    "mV": (((0.05, 0.5), (2, 5), (0.5, 6)),) * 2,
    "pA": (((0.025, 0.05), (0.4, 0.8), (0.2, 2)),) * 2,
    "nS": (((0.01, 0.02), (0.1, 0.2), (0.2, 3)), ((0.01, 0.02), (2, 4), (0.5, 8))),
    "": (((1, 5), (15, 30), (5, 30)),) * 2,  # a current during one step
}
RATES, POTENTIALS = 2000.0, 300.0  # ms of a run
FAST = 500.0  # Hz
ARRIVES = 100.0  # ms, less the delay


@dataclass
class Case:
    """A neuron with what it gets."""

    params: Params
    init: Params
    current: float
    inputs: list[tuple[int, float, list[float]]] = field(default_factory=list)  # port, weight, times in ms
    delay: float = 1.0  # ms


def recorded(burst: str, text: str, bursts: int) -> tuple[dict[str, Any], dict[str, dict[str, Numbers]]]:
    """What burst records of a genome: the manifest, and columns of each table."""
    with tempfile.TemporaryDirectory() as folder:
        genome, out = Path(folder, "genome.yaml"), Path(folder, "out")
        genome.write_text(text)
        flags = ["--bursts", str(bursts), "--out", str(out), "--quiet", "--backend", "cpu", "--threads", "1"]
        subprocess.run([burst, "run", str(genome), *flags], check=True, stdout=subprocess.DEVNULL)
        tables = {f.stem: pq.read_table(f) for f in out.glob("*.parquet")}
        columns = {n: {c: t[c].to_numpy() for c in t.column_names} for n, t in tables.items()}
        return json.loads((out / "manifest.json").read_text()), columns


def amount(x: float, unit: str) -> str:
    """An amount as genomes write it."""
    return f"{float(x)!r} {unit}".strip()


def genome_of(name: str, cases: list[Case], step: float, potentials: bool) -> str:
    """A genome with an area for each case, and one for each of its inputs."""
    m = MODELS[name]
    areas, projections = [], []
    for i, c in enumerate(cases):
        params = {k: amount(v, m.ranges[k][0]) for k, v in c.params.items()}
        drive = f", drive: {{constant: {amount(c.current, 'pA' if m.unit else '')}}}"
        init = {k: amount(v, UNITS[k]) for k, v in c.init.items()}
        if name not in ("lif", "lif_psc_exp", "lif_psc_exp_event", "izhikevich"):
            params["I_e"], drive = amount(c.current, "pA"), ""
        written = [", ".join(f"{k}: {v}" for k, v in x.items()) for x in (params, init)]
        areas.append(
            f"{{name: a{i}, neurons: 1, model: {name}, params: {{{written[0]}}}, init: {{{written[1]}}}{drive}}}"
        )
        for port, weight, times in c.inputs:
            at = [round(t / step) - 1 - m.lag for t in times]
            source = f"s{i}-{port}"
            areas.append(f"{{name: {source}, neurons: 1, model: spike_list, spikes: [{{neurons: [0], at: {at}}}]}}")
            to, sign = (f"{{area: a{i}, port: {['ex', 'in'][port]}}}", 1) if m.unit == "nS" else (f"a{i}", 1 - 2 * port)
            synapse = f"weight: {amount(sign * weight, m.unit)}, delay: {c.delay} ms"
            projections.append(f"{{from: {source}, to: {to}, rule: one_to_one, {synapse}}}")
    lines = ["burst: v1", f"timestep: {step} ms", "scale: auto", "areas:", *("  - " + a for a in areas)]
    if projections:
        lines += ["projections:", *("  - " + p for p in projections)]
    names = [f"a{i}" for i in range(len(cases))]
    watched = ", ".join(f"{{area: {n}, neurons: all}}" for n in names)
    looked = f", potentials: [{watched}]" if potentials else ""
    return "\n".join([*lines, f"record: {{spikes: [{', '.join(names)}]{looked}}}", ""])


def on_burst(
    burst: str, name: str, cases: list[Case], step: float, ms: float, potentials: bool
) -> list[tuple[Numbers, Numbers]]:
    """The steps of each case's spikes, and V after each step."""
    n, lag = round(ms / step), MODELS[name].lag
    manifest, tables = recorded(burst, genome_of(name, cases, step, potentials), n)
    first = {a["name"]: a["first"] for a in manifest["areas"]}
    found = []
    for i, c in enumerate(cases):
        fired = tables["spikes"]["burst"][tables["spikes"]["neuron"] == first[f"a{i}"]].astype(int) + 1 + lag
        v = np.empty(0)
        if potentials:
            t = tables["potentials"]
            mine = t["neuron"] == first[f"a{i}"]
            v = t["potential"][mine][np.argsort(t["burst"][mine], kind="stable")].astype(float)
            v = np.concatenate([np.full(lag, c.init["V"]), v])[:n]
        found.append((np.sort(fired[fired <= n]), v))
    return found


def on_nest(name: str, cases: list[Case], step: float, ms: float, potentials: bool) -> list[tuple[Numbers, Numbers]]:
    """What on_burst has, of NEST."""
    m, n = MODELS[name], round(ms / step)
    nest.ResetKernel()
    nest.verbosity, nest.resolution = nest.VerbosityLevel.ERROR, step
    recorders = []
    for c in cases:
        grouped = {k for group in m.lists.values() for k in group}
        params: dict[str, Any] = {NAMES.get(k, k): v for k, v in c.params.items() if k not in grouped}
        params |= {theirs: [c.params[k] for k in group] for theirs, group in m.lists.items()}
        params |= m.fixed(c.params) | {STATES[k]: v for k, v in c.init.items()}
        cell = nest.Create(m.nest, params=params if m.lag else {**params, "I_e": c.current})
        if m.lag and c.current:
            generator = nest.Create("dc_generator", params={"amplitude": c.current})
            nest.Connect(generator, cell, syn_spec={"delay": step})
        for port, weight, times in c.inputs:
            source = nest.Create("spike_generator", params={"spike_times": times})
            synapse = {"weight": (1 - 2 * port) * weight, "delay": c.delay}
            nest.Connect(source, cell, syn_spec=synapse | ({"receptor_type": 1} if m.lag else {}))
        spikes = nest.Create("spike_recorder")
        nest.Connect(cell, spikes)
        meter = nest.Create("multimeter", params={"record_from": ["V_m"], "interval": step})
        if potentials:
            nest.Connect(meter, cell)
        recorders.append((spikes, meter))
    nest.Simulate(ms + 2 * step)
    found = []
    for spikes, meter in recorders:
        fired = np.rint(np.array(spikes.events["times"]) / step).astype(int)
        v = np.array(meter.events["V_m"])[np.argsort(meter.events["times"])][:n]
        found.append((np.sort(fired[fired <= n]), v))
    return found


def start(name: str, p: Params, r: Random, anywhere: bool) -> Params:
    """What a neuron starts from: rest, or anywhere near it."""
    v = p.get("rest", -65.0)
    if anywhere:
        v = round(v + r.uniform(*MODELS[name].start), 3)
    if name == "izhikevich":
        return {"V": v, "u": round(p["b"] * v, 4)}
    return {"V": v, "w": round(r.uniform(-20, 50), 3)} if anywhere and name.startswith("adex") else {"V": v}


def rate(spikes: Numbers, step: float) -> float:
    """Spikes a second after a quarter of the run, from their intervals; 0 with less than three."""
    late = spikes[spikes * step > RATES / 4]
    return 0.0 if len(late) < 3 else 1000 * (len(late) - 1) / ((late[-1] - late[0]) * step)


def rates(burst: str, name: str, sets: list[Params], r: Random, step: float) -> list[str]:
    """Cells: f-I points with equal spikes, and the largest relative deviations of rates up to FAST and above."""
    rheobase = MODELS[name].rheobase
    cases = [Case(p, start(name, p, r, False), round(rheobase(p) * f, 2)) for p in sets for f in (1.05, 1.3, 2, 5)]
    both = list(
        zip(on_burst(burst, name, cases, step, RATES, False), on_nest(name, cases, step, RATES, False), strict=True)
    )
    equal = sum(np.array_equal(x, y) for (x, _), (y, _) in both)
    pairs = [(rate(x, step), rate(y, step)) for (x, _), (y, _) in both]
    off = [[abs(x - y) / max(y, 1e-9) for x, y in pairs if (y > FAST) == fast] for fast in (False, True)]
    return [f"{equal} of {len(cases)}", *(f"{100 * max(o):.3f} %" if o else "none" for o in off)]


def peaks(burst: str, name: str, sets: list[Params], r: Random, step: float) -> list[str]:
    """Cells: peaks of 0.5 mV and more, their largest relative deviation, and that of smaller ones in mV."""
    m = MODELS[name]
    cases = []
    for p in sets:
        for port in (0, 1):
            for size in WEIGHTS[m.unit][port][:2]:
                weight, delay = round(m.size(p) * r.uniform(*size), 4), r.choice([0.2, 1.0, 1.4, 8.0])
                cases.append(Case(p, start(name, p, r, False), m.held, [(port, weight, [ARRIVES])], delay))
    ours, theirs = (on_burst(burst, name, cases, step, POTENTIALS, True), on_nest(name, cases, step, POTENTIALS, True))
    large, small = [0.0], [0.0]
    for c, (fired, x), (also, y) in zip(cases, ours, theirs, strict=True):
        if len(fired) or len(also):
            continue
        before = round((ARRIVES + c.delay) / step) - 2
        a, b = (float(d[np.abs(d).argmax()]) for d in (x[before:] - x[before], y[before:] - y[before]))
        if abs(b) >= 0.5:
            large.append(abs(a - b) / abs(b))
        else:
            small.append(abs(a - b))
    return [str(len(large) - 1), f"{max(large):.1e}", f"{max(small):.1e} mV"]


def trains(burst: str, name: str, sets: list[Params], r: Random, step: float) -> list[str]:
    """Cells: trains with equal spikes, and NEST's spikes."""
    m = MODELS[name]
    cases = []
    for p in sets:
        for f in (0.6, 1.2, 2.5):
            c = Case(p, start(name, p, r, True), round(m.rheobase(p) * f, 2), delay=r.choice([0.2, 1.0, 1.4, 8.0]))
            for port in (0, 1):
                times = sorted({round(0.2 * r.randint(5, 1400), 4) for _ in range(40)})
                c.inputs.append((port, round(m.size(p) * r.uniform(*WEIGHTS[m.unit][port][2]), 4), times))
            cases.append(c)
    ours, theirs = (on_burst(burst, name, cases, step, POTENTIALS, True), on_nest(name, cases, step, POTENTIALS, True))
    equal = sum(np.array_equal(x, y) for (x, _), (y, _) in zip(ours, theirs, strict=True))
    return [f"{equal} of {len(cases)}", str(sum(len(y) for y, _ in theirs))]


def draw(m: Model, r: Random) -> Params:
    """A set of parameters."""
    p: Params = {}
    for name, (_, drawn) in m.ranges.items():
        p[name] = drawn(r, p)
    return p


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("burst", help="the program")
    parser.add_argument("--models", type=lambda x: x.split(","), default=list(MODELS), help="names, with commas")
    parser.add_argument("--sets", type=int, default=6, help="of parameters, for each model and timestep")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--timesteps", type=lambda x: [float(s) for s in x.split(",")], default=[0.05, 0.1, 0.2])
    given = parser.parse_args()
    columns = ["model", "timestep", "equal f-I points", "up to 500 Hz within", "above within", "peaks ≥ 0.5 mV"]
    columns += ["within", "smaller ones within", "equal trains", "spikes"]
    print("|", " | ".join(columns), "|\n|", " | ".join(["---"] * len(columns)), "|")
    for name in given.models:
        r = Random(f"{name} {given.seed}")
        for step in given.timesteps:
            sets = [draw(MODELS[name], r) for _ in range(given.sets)]
            cells = [c for part in (rates, peaks, trains) for c in part(given.burst, name, sets, r, step)]
            print("|", " | ".join([name, f"{step} ms", *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
