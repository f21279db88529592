"""Rates and CVs of networks in NEST, as JSON; main.go has what NEST 3.10.0 gives.

Run: pip install nest-simulator==3.10.0, then python nest_networks.py coba|cobahh|memory|decision [SEEDS]
"""
import json
import sys

import nest
import numpy as np

STEP = 0.1  # ms


def reset(seed):
    nest.ResetKernel()
    nest.set_verbosity("M_ERROR")
    nest.resolution = STEP
    nest.rng_seed = seed


def statistics(events, neurons, since, until):
    """The mean rate in Hz, and the mean CV of intervals of neurons with at least two."""
    times, senders = events["times"], events["senders"]
    keep = (times > since) & (times <= until)
    times, senders = times[keep], senders[keep]
    order = np.lexsort((times, senders))
    times, senders = times[order], senders[order]
    cvs = []
    for train in np.split(times, np.flatnonzero(np.diff(senders)) + 1):
        if len(train) > 2:
            intervals = np.diff(train)
            cvs.append(intervals.std() / intervals.mean())
    return [len(times) / neurons / (until - since) * 1000, float(np.mean(cvs))]


def conductances(model, params, seed):
    """The networks COBA and COBAHH of Brette et al. (2007), Poisson input to all for the first 50 ms, 2.2 s."""
    reset(seed)
    cells = nest.Create(model, 4000, params={**params, "V_m": nest.random.uniform(-60.0, -50.0)})
    e, i = cells[:3200], cells[3200:]
    noise = nest.Create("poisson_generator", params={"rate": 300.0, "start": 0.0, "stop": 50.0})
    nest.Connect(noise, cells, syn_spec={"weight": 6.0, "delay": STEP})
    rule = {"rule": "pairwise_bernoulli", "p": 0.02, "allow_autapses": True}
    nest.Connect(e, cells, rule, {"weight": 6.0, "delay": STEP})
    nest.Connect(i, cells, rule, {"weight": -67.0, "delay": STEP})
    recorders = [nest.Create("spike_recorder") for _ in range(2)]
    nest.Connect(e, recorders[0])
    nest.Connect(i, recorders[1])
    nest.Simulate(2200.0)
    return sum((statistics(r.events, n, 200.0, 2200.0) for r, n in zip(recorders, (3200, 800))), [])


def coba(seed):
    return conductances("iaf_cond_exp", {
        "C_m": 200.0, "g_L": 10.0, "E_L": -60.0, "V_th": -50.0, "V_reset": -60.0, "E_ex": 0.0, "E_in": -80.0, "tau_syn_ex": 5.0, "tau_syn_in": 10.0, "t_ref": 5.0}, seed)


def cobahh(seed):
    return conductances("hh_cond_exp_traub", {}, seed)


def receptors(sizes, inhibitory, gaba):
    """Cells with AMPA, NMDA and GABA, a decay of so many ms of the last: excitatory groups, inhibitory ones, and what connects two."""
    common = {"E_L": -70.0, "V_th": -50.0, "V_reset": -55.0, "E_ex": 0.0, "E_in": -70.0, "tau_AMPA": 2.0, "tau_GABA": gaba,
              "tau_decay_NMDA": 100.0, "tau_rise_NMDA": 2.0, "alpha": 0.5, "conc_Mg2": 1.0, "V_m": -70.0}
    groups = [nest.Create("iaf_bw_2001", n, {**common, "C_m": 500.0, "g_L": 25.0, "t_ref": 2.0}) for n in sizes]
    ports = groups[0].receptor_types
    ports = ports[0] if isinstance(ports, (list, tuple)) else ports

    def connect(source, target, weight, port):
        nest.Connect(source, target, "all_to_all", {"weight": weight, "delay": 0.5, "receptor_type": ports[port]})

    return groups, nest.Create("iaf_bw_2001", inhibitory, {**common, "C_m": 200.0, "g_L": 20.0, "t_ref": 1.0}), connect


def rates(populations, *spans):
    """The rates of populations in spans of time, of a simulation that ends with the last one."""
    recorders = []
    for cells in populations:
        recorders.append((nest.Create("spike_recorder"), len(cells)))
        nest.Connect(cells, recorders[-1][0])
    nest.Simulate(spans[-1][1])
    return [statistics(r.events, n, *span)[0] for span in spans for r, n in recorders]


def memory(seed):
    """The network of Brunel and Wang (2001): rates of the cued group, the other four, the rest and inhibitory cells, before and after a cue."""
    reset(seed)
    groups, inhibitory, connect = receptors((80, 80, 80, 80, 80, 400), 200, 10.0)
    outside = nest.Create("poisson_generator", params={"rate": 2400.0})
    cue = nest.Create("poisson_generator", params={"rate": 1200.0, "start": 1000.0, "stop": 1500.0})
    connect(cue, groups[0], 2.08, "AMPA")
    connect(outside, inhibitory, 1.62, "AMPA")
    connect(inhibitory, inhibitory, 0.973, "GABA")
    for a, source in enumerate(groups):
        connect(outside, source, 2.08, "AMPA")
        connect(inhibitory, source, 1.25, "GABA")
        connect(source, inhibitory, 0.081, "AMPA")
        connect(source, inhibitory, 0.258, "NMDA")
        for b, target in enumerate(groups):
            factor = 1.0 if b == 5 else 2.1 if a == b else 1 - 0.1 * (2.1 - 1) / (1 - 0.1)
            connect(source, target, 0.104 * factor, "AMPA")
            connect(source, target, 0.327 * factor, "NMDA")
    return rates((groups[0], groups[1] + groups[2] + groups[3] + groups[4], groups[5], inhibitory), (500.0, 1000.0), (2000.0, 3000.0))


def decision(seed):
    """The network of Wang (2002), motion of a coherence of 51.2 % from 1 s to 2 s: rates of A, B, the rest and inhibitory cells, before it and in its second half."""
    reset(seed)
    groups, inhibitory, connect = receptors((240, 240, 1120), 400, 5.0)
    outside = nest.Create("poisson_generator", params={"rate": 2400.0})
    for cells, coherence in zip(groups, (0.512, -0.512)):
        motion = nest.Create("poisson_generator", params={"rate": 40.0 * (1 + coherence), "start": 1000.0, "stop": 2000.0})
        connect(motion, cells, 2.1, "AMPA")
    connect(outside, inhibitory, 1.62, "AMPA")
    connect(inhibitory, inhibitory, 1.0, "GABA")
    for a, source in enumerate(groups):
        connect(outside, source, 2.1, "AMPA")
        connect(inhibitory, source, 1.3, "GABA")
        connect(source, inhibitory, 0.04, "AMPA")
        connect(source, inhibitory, 0.13, "NMDA")
        for b, target in enumerate(groups):
            factor = 1.0 if b == 2 else 1.7 if a == b else 1 - 0.15 * (1.7 - 1) / (1 - 0.15)
            connect(source, target, 0.05 * factor, "AMPA")
            connect(source, target, 0.165 * factor, "NMDA")
    return rates((*groups, inhibitory), (500.0, 1000.0), (1500.0, 2000.0))


run = {"coba": coba, "cobahh": cobahh, "memory": memory, "decision": decision}[sys.argv[1]]
table = np.array([run(seed) for seed in range(1, 1 + (int(sys.argv[2]) if len(sys.argv) > 2 else 8))])
print(json.dumps({"nest": nest.__version__, "seeds": len(table), "mean": table.mean(0).round(4).tolist(), "sd": table.std(0, ddof=1).round(4).tolist() if len(table) > 1 else [], "all": table.round(3).tolist()}, indent=1))
