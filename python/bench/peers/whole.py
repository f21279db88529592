"""Times whole runs of examples on burst and on NEST, from the start of a process to its end, as a Markdown table.

    make bench-whole

The networks are two of the examples in genomes, and hpc-benchmark.yaml beside this file. NEST's are made from the text:
neurons, rules, weights, delays, drives and learning as they stand there. Both count all spikes. build is from Python's
or burst's start until the network is there, simulate is the bursts alone. Of ROUNDS rounds, 3 unless given, in which
both take turns, the one with the median total is shown. THREADS is 2 unless given. hpc-benchmark needs 10 GB of memory.
"""

import json
import os
import re
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import yaml

RUNS = {"brunel-c": 4000, "potjans-diesmann-10": 10000, "hpc-benchmark": 1000}  # bursts of 0.1 ms
ROUNDS = int(os.environ.get("ROUNDS", "3"))
THREADS = os.environ.get("THREADS", "2")
NORMAL = re.compile(r"normal\((\S+) \w+, (\S+) \w+\)(?: ([<>]=?) (\S+)(?: \w+)?)?")
MODELS = {"lif": "iaf_psc_delta", "lif_psc_exp": "iaf_psc_exp", "lif_psc_alpha": "iaf_psc_alpha"}
UNIFORM = re.compile(r"uniform\((\S+) \w+, (\S+) \w+\)")
NAMES = {"tau": "tau_m", "rest": "E_L", "reset": "V_reset", "threshold": "V_th", "refractory": "t_ref", "C": "C_m"}
NUMBERS = {"indegree": "indegree", "outdegree": "outdegree", "count": "N"}  # of a rule's synapses
CAPACITANCE = 250.0  # pF, of iaf_psc_delta


def plain(text: str) -> float:
    """An amount without its unit: mV, pA, pF, ms and Hz are NEST's too."""
    return float(text.split()[0])


def value(nest: Any, text: str) -> Any:
    """An amount, a uniform distribution, or a normal one that draws again beyond its bound."""
    if found := UNIFORM.fullmatch(text):
        return nest.random.uniform(*map(float, found.groups()))
    found = NORMAL.fullmatch(text)
    if found is None:
        return plain(text)
    mean, sd, side, bound = found.groups()
    drawn = nest.random.normal(float(mean), float(sd))
    low, high = (float(bound), 1e9) if side and side[0] == ">" else (-1e9, float(bound or 1e9))
    return nest.math.redraw(drawn, low, high)


def area(nest: Any, a: dict[str, Any], learning: bool) -> Any:
    """The neurons of an area, with their drives; learning says whether synapses onto it do."""
    params = {NAMES.get(k, k): plain(v) for k, v in a["params"].items()}
    if "tau_syn" in params:
        params["tau_syn_ex"] = params["tau_syn_in"] = params.pop("tau_syn")
    if learning:
        params["tau_minus"] = 30.0
    params["V_m"] = value(nest, a["init"]["V"]) if "init" in a else params["E_L"]
    drives = a["drive"] if isinstance(a["drive"], list) else [a["drive"]]
    for d in drives:
        if "constant" in d:
            # of lif what it drives the potential to, which NEST wants as a current into its default capacitance
            tau = plain(a["params"]["tau"])
            params["I_e"] = plain(d["constant"]) * (CAPACITANCE / tau if a["model"] == "lif" else 1)
    cells = nest.Create(MODELS[a["model"]], a["neurons"], params=params)
    for d in drives:
        if "poisson" in d:
            noise = nest.Create("poisson_generator", params={"rate": plain(d["poisson"]["rate"])})
            nest.Connect(noise, cells, syn_spec={"weight": plain(d["poisson"]["weight"]), "delay": 0.1})
    return cells


def network(nest: Any, g: dict[str, Any], threads: int, seed: int) -> dict[str, Any]:
    """The network of a genome on NEST, emptied before; the neurons of each area."""
    nest.ResetKernel()
    nest.set_verbosity("M_ERROR")
    nest.resolution, nest.local_num_threads, nest.rng_seed = plain(g["timestep"]), threads, seed
    nest.keep_source_table = False  # 8 bytes a synapse that only more synapses would need
    learning = {p["to"]: p["plasticity"] for p in g["projections"] if "plasticity" in p}
    areas = {a["name"]: area(nest, a, a["name"] in learning) for a in g["areas"]}
    defaults = {"tau_plus": 15.0, "lambda": 0.1, "alpha": 0.0513, "mu": 0.4}  # of burst's rule
    nest.CopyModel("stdp_pl_synapse_hom", "stdp_power_law", defaults)
    for p in g["projections"]:
        rule = {"rule": p["rule"], "allow_autapses": p.get("autapses", True)}
        rule |= next({at: p[key]} for key, at in NUMBERS.items() if key in p)
        synapse = {"weight": value(nest, p["weight"]), "delay": value(nest, p.get("delay", g["timestep"]))}
        synapse["synapse_model"] = p.get("plasticity", "static_synapse")
        nest.Connect(areas[p["from"]], areas[p["to"]], rule, synapse)
    return areas


def on_nest(genome: Path, bursts: int) -> None:
    """Runs an example on NEST and prints its times and spikes."""
    began = float(os.environ["BEGAN"])
    import nest

    g = yaml.safe_load(genome.read_text())
    network(nest, g, int(THREADS), 1 + g["seed"])
    nest.Prepare()
    built = time.time()
    nest.Run(bursts * 0.1)
    ran = time.time() - built
    nest.Cleanup()
    spikes = nest.GetKernelStatus("local_spike_counter")
    print("RESULT", json.dumps({"build": built - began, "run": ran, "spikes": spikes}))


def timed(command: list[str]) -> tuple[dict[str, float], str]:
    """A process's time by the clock and of processors, and its output."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.time()
    done = subprocess.run(command, env={**os.environ, "BEGAN": repr(began)}, capture_output=True, text=True, check=True)
    total = time.time() - began
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"total": total, "cpu": now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime}, done.stdout


def measure(simulator: str, burst: str, genome: Path, bursts: int) -> dict[str, float]:
    """Runs an example once."""
    if simulator == "NEST":
        times, out = timed([sys.executable, __file__, "--nest", str(genome), str(bursts)])
        found: dict[str, float] = json.loads(out.split("RESULT ")[1])
        return {**found, **times}
    flags = ["--bursts", str(bursts), "--backend", "cpu", "--threads", THREADS, "--no-out", "--json"]
    times, out = timed([burst, "run", str(genome), *flags])
    r = json.loads(out)
    phases = ("read_s", "plan_s", "build_s", "open_s")
    return {"build": sum(r[p] for p in phases), "run": r["run_s"], "spikes": r["spikes"], **times}


def main() -> None:
    """Prints the table."""
    if sys.argv[1] == "--nest":
        on_nest(Path(sys.argv[2]), int(sys.argv[3]))
        return
    burst, folder = sys.argv[1], Path(sys.argv[2])
    print("| network | simulator | build | simulate | total | total, processor time | spikes |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, bursts in RUNS.items():
        simulators = ("burst", "NEST")
        genome = folder / f"{name}.yaml"
        if not genome.exists():
            genome = Path(__file__).with_name(genome.name)
        rounds = [{s: measure(s, burst, genome, bursts) for s in simulators} for _ in range(ROUNDS)]
        for s in simulators:
            middle = statistics.median_low(r[s]["total"] for r in rounds)
            x = next(r[s] for r in rounds if r[s]["total"] == middle)
            times = [f"{x[key]:.2f} s" for key in ("build", "run", "total", "cpu")]
            print("|", " | ".join([name, s, *times, f"{x['spikes']:,.0f}"]), "|", flush=True)


if __name__ == "__main__":
    main()
