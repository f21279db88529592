"""Compares rules of plasticity with NEST's synapses on random trains, and prints a Markdown table.

    pip install nest-simulator==3.10 numpy pyarrow
    python rules.py BURST --rules triplet,vogels --delays 0.1,1,3.7,20 --duration 2000 --seed 1

Source and target fire at random at 25 Hz, the target from the source's first spike on: before it, NEST's rules of
nearest neighbours act as if the source had fired at time 0. The weight at each spike of the source is compared; of
tsodyks_markram, the weight that is delivered. NEST's neurons repeat their input; burst's target fires with its teacher.
"""

import argparse
from dataclasses import dataclass, field
from random import Random
from typing import Any

import nest
import numpy as np
from models import Numbers, recorded

STEP = 0.1  # ms
RATE = 25.0  # Hz
SCALE = 262144  # units of a weight of 1 mV


@dataclass(frozen=True)
class Rule:
    """A rule of burst, the synapse of NEST that does the same, and its parameters."""

    ours: str
    nest: str
    params: dict[str, float]
    weight: float  # mV
    tau_minus: float = 20.0  # of NEST's neuron, ms
    neuron: dict[str, float] = field(default_factory=dict)  # NEST's other parameters of it
    delivered: bool = False  # whether the weight that is delivered is compared, not the stored one


def stdp(name: str, synapse: str, alpha: float, plus: float, minus: float) -> Rule:
    """A rule of pairs of spikes with exponents."""
    ours = f"rule: {name}, tau_plus: 13 ms, tau_minus: 41 ms, lambda: 0.02, alpha: {alpha}, w_max: 9 mV"
    theirs = {"tau_plus": 13.0, "lambda": 0.02, "alpha": alpha, "mu_plus": plus, "mu_minus": minus, "Wmax": 9.0}
    return Rule(f"{ours}, mu_plus: {plus}, mu_minus: {minus}", synapse, theirs, 4.0, 41.0)


def short_term(u: float, recovers: float, facilitates: float) -> Rule:
    """Short-term plasticity."""
    ours = f"rule: tsodyks_markram, U: {u}, tau_rec: {recovers} ms, tau_fac: {facilitates} ms, w_max: 9 mV"
    theirs = {"U": u, "u": u, "tau_rec": recovers, "tau_fac": facilitates, "x": 1.0}
    return Rule(ours, "tsodyks2_synapse", theirs, 4.0, delivered=True)


TRIPLET = {"tau_plus": 14.0, "tau_plus_triplet": 80.0, "Aplus": 2e-3, "Aplus_triplet": 4e-3, "Aminus": 5e-3}
TRIPLET |= {"Aminus_triplet": 1e-3, "Wmax": 6.0}
RULES = {
    "stdp 0.4 0.8": stdp("stdp", "stdp_synapse", 1.1, 0.4, 0.8),
    "stdp 0.8 0.4": stdp("stdp", "stdp_synapse", 1.1, 0.8, 0.4),
    "stdp 0 0": stdp("stdp", "stdp_synapse", 1.1, 0.0, 0.0),
    "stdp 1 1": stdp("stdp", "stdp_synapse", 1.1, 1.0, 1.0),
    "stdp 0.4 1": stdp("stdp", "stdp_synapse", 1.1, 0.4, 1.0),
    "nearest_symmetric": stdp("stdp_nearest_symmetric", "stdp_nn_symm_synapse", 0.7, 0.4, 0.8),
    "nearest_pre_centered": stdp("stdp_nearest_pre_centered", "stdp_nn_pre_centered_synapse", 0.7, 0.4, 0.8),
    "nearest_restricted": stdp("stdp_nearest_restricted", "stdp_nn_restr_synapse", 0.7, 0.4, 0.8),
    "triplet": Rule(
        "rule: stdp_triplet, tau_plus: 14 ms, tau_x: 80 ms, tau_minus: 28 ms, tau_y: 60 ms, A2_plus: 0.002 mV, "
        "A3_plus: 0.004 mV, A2_minus: 0.005 mV, A3_minus: 0.001 mV, w_max: 6 mV",
        "stdp_triplet_synapse",
        TRIPLET,
        1.5,
        28.0,
        {"tau_minus_triplet": 60.0},
    ),
    "vogels": Rule(
        "rule: vogels, tau: 31 ms, eta: 0.004 mV, rho: 5 Hz, w_max: 7 mV",
        "vogels_sprekeler_synapse",
        {"tau": 31.0, "eta": 0.004, "alpha": 0.31, "Wmax": -7.0},
        -1.5,
        31.0,
    ),
    "tsodyks_markram 0.2": short_term(0.2, 340.0, 0.0),
    "tsodyks_markram 0.6": short_term(0.6, 90.0, 700.0),
    "tsodyks_markram 0.05": short_term(0.05, 500.0, 250.0),
}


def train(r: Random, ms: float) -> list[float]:
    """Times of spikes in ms."""
    steps = round(ms / STEP)
    return sorted({round(STEP * r.randint(10, steps), 4) for _ in range(int(RATE * ms / 1000))})


def on_nest(rule: Rule, delay: float, pre: list[float], post: list[float]) -> Numbers:
    """NEST's weight at each spike of the source."""
    nest.ResetKernel()
    nest.verbosity, nest.resolution = nest.VerbosityLevel.ERROR, STEP
    source = nest.Create("parrot_neuron")
    target = nest.Create("parrot_neuron", params={"tau_minus": rule.tau_minus, **rule.neuron})
    for cell, times in ((source, pre), (target, post)):
        generator = nest.Create("spike_generator", params={"spike_times": [round(t - STEP, 4) for t in times]})
        nest.Connect(generator, cell, syn_spec={"delay": STEP, "receptor_type": 0})
    recorder = nest.Create("weight_recorder")
    nest.CopyModel(rule.nest, "watched", {"weight_recorder": recorder})
    synapse: dict[str, Any] = {"synapse_model": "watched", "weight": rule.weight, "delay": delay, "receptor_type": 1}
    nest.Connect(source, target, syn_spec=synapse | rule.params)
    nest.Simulate(max(pre[-1], post[-1]) + 100)
    events = recorder.events
    return np.array(events["weights"])[np.argsort(events["times"], kind="stable")]


def on_burst(burst: str, rule: Rule, delay: float, pre: list[float], post: list[float]) -> Numbers:
    """The same of burst."""
    before = [round(t / STEP) - 1 for t in pre]
    teacher = [round(t / STEP) - 2 for t in post]
    learning = f"weight: {rule.weight} mV, delay: {delay} ms, back: {delay} ms, plasticity: {{{rule.ours}}}"
    text = f"""burst: v1
timestep: {STEP} ms
scale: {SCALE}
areas:
  - {{name: pre, neurons: 1, model: spike_list, spikes: [{{neurons: [0], at: {before}}}]}}
  - {{name: post, neurons: 1, model: lif, params: {{refractory: 0 ms, threshold: 1500 mV, tau: 0.02 ms}}}}
  - {{name: teacher, neurons: 1, model: spike_list, spikes: [{{neurons: [0], at: {teacher}}}]}}
projections:
  - {{from: pre, to: post, rule: one_to_one, {learning}}}
  - {{from: teacher, to: post, rule: one_to_one, weight: 3000 mV, delay: 1}}
record: {{spikes: [post], weights: {{every: 1, synapses: [{{from: pre, to: post}}]}}, fcl: true}}
"""
    _, tables = recorded(burst, text, round((max(pre[-1], post[-1]) + 60) / STEP))
    fired = np.sort(tables["spikes"]["burst"]) + 1
    if not np.array_equal(fired, np.rint(np.array(post) / STEP)):
        raise SystemExit(f"{rule.ours}: the target did not fire as its teacher")
    arrivals = [b + round(delay / STEP) for b in before]
    if rule.delivered:
        sums = dict(zip(tables["fcl"]["burst"].tolist(), tables["fcl"]["sum"].tolist(), strict=True))
        return np.array([sums[b] / SCALE for b in arrivals])
    weights = dict(zip(tables["weights"]["burst"].tolist(), tables["weights"]["weight"].tolist(), strict=True))
    return np.array([weights[b + 1] for b in arrivals])


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("burst", help="the program")
    parser.add_argument("--rules", type=lambda x: x.split(","), default=list(RULES), help="names, with commas")
    parser.add_argument("--delays", type=lambda x: [float(s) for s in x.split(",")], default=[0.1, 1, 3.7, 20])
    parser.add_argument("--duration", type=float, default=2000.0, help="ms")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("| rule | delay | spikes | first weight | last weight | within |\n| --- | --- | --- | --- | --- | --- |")
    r = Random(given.seed)
    for delay in given.delays:
        pre, post = train(r, given.duration), train(r, given.duration)
        for name in given.rules:
            rule = RULES[name]
            fires = [given.duration + 50] if rule.delivered else [t for t in post if t > pre[0]]
            theirs, ours = on_nest(rule, delay, pre, fires), on_burst(given.burst, rule, delay, pre, fires)
            off = np.abs(ours - theirs).max()
            print(
                f"| {name} | {delay} ms | {len(pre)} | {theirs[0]:.4f} | {theirs[-1]:.4f} | {off:.1e} mV |", flush=True
            )


if __name__ == "__main__":
    main()
