"""The network of testdata/population-bursts.yaml in NEST; synchrony.go has what NEST 3.10.0 gives.

Run: pip install nest-simulator==3.10.0, then python nest_population_bursts.py SEEDS
"""
import sys

import nest
import numpy as np


def within(rng, mean, sd, low, high, n):
    """Normal numbers, drawn again until they lie within bounds."""
    x = rng.normal(mean, sd, n)
    while (out := (x < low) | (x > high)).any():
        x[out] = rng.normal(mean, sd, out.sum())
    return x


def connect(rng, a, b, weight, use, recovery, facilitation):
    """A tenth of the pairs; use is mean, least and largest U."""
    i, j = np.nonzero(rng.random((len(a), len(b))) < 0.1)
    n = len(i)
    low, high = sorted((0.2 * weight, 2 * weight))
    facilitating = within(rng, facilitation, facilitation / 2, 5, 1e9, n) if facilitation else np.zeros(n)
    nest.Connect(np.array(a.tolist())[i], np.array(b.tolist())[j], "one_to_one", {
        "synapse_model": "tsodyks_synapse", "weight": within(rng, weight, abs(weight) / 2, low, high, n),
        "delay": np.full(n, 0.1), "U": within(rng, use[0], use[0] / 2, use[1], use[2], n),
        "tau_rec": within(rng, recovery, recovery / 2, 5, 1e9, n), "tau_fac": facilitating,
        "tau_psc": np.full(n, 3.0), "x": np.ones(n)})


def run(seed, since=1000.0, until=11000.0):
    """Rates of E and I and of population bursts, in Hz."""
    nest.ResetKernel()
    nest.resolution = 0.1
    nest.rng_seed = seed
    rng = np.random.default_rng(seed)
    cell = {"C_m": 30.0, "tau_m": 30.0, "tau_syn_ex": 3.0, "tau_syn_in": 3.0, "E_L": 0.0, "V_reset": 13.5, "V_th": 15.0}
    e = nest.Create("iaf_psc_exp", 400, {**cell, "t_ref": 3.0})
    i = nest.Create("iaf_psc_exp", 100, {**cell, "t_ref": 2.0})
    for cells in (e, i):
        cells.I_e = rng.uniform(14.5, 15.5, len(cells))
        cells.V_m = rng.uniform(0, 15, len(cells))
    connect(rng, e, e, 1.8, (0.5, 0.1, 0.9), 800.0, 0)
    connect(rng, e, i, 7.2, (0.04, 0.001, 0.07), 100.0, 1000.0)
    connect(rng, i, e, -5.4, (0.5, 0.1, 0.9), 800.0, 0)
    connect(rng, i, i, -7.2, (0.04, 0.001, 0.07), 100.0, 1000.0)
    recorder = nest.Create("spike_recorder")
    nest.Connect(e + i, recorder)
    nest.Simulate(until)
    times, senders = recorder.events["times"], recorder.events["senders"] - 1
    keep = (times >= since) & (times < until)
    times, senders, seconds = times[keep], senders[keep], (until - since) / 1000
    counts = np.histogram(times, np.arange(since, until + 1))[0]
    bins = np.flatnonzero(counts > 20)
    bursts = np.count_nonzero(np.diff(bins, prepend=-1000) > 50)
    return (senders < 400).sum() / 400 / seconds, (senders >= 400).sum() / 100 / seconds, bursts / seconds


if __name__ == "__main__":
    found = np.array([run(1 + k) for k in range(int(sys.argv[1]))])
    print(found.mean(axis=0), found.std(axis=0, ddof=1))
