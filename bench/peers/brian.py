"""Compiles a wiring that bench/peers exported with Brian2's cpp_standalone, runs it once and prints the spikes a step.

The program is PROJECT/main; the wiring lies beside PROJECT.

usage: brian.py PROJECT NEURONS THREADS WARM STEPS
Synapses that the wiring's groups call plastic learn. The neurons are burst-100k's: lif, 21 mV of drive, tau
100 ms, reset 19.9167 mV, threshold 20 mV, refractory 2 ms.
"""
import json
import os
import sys

import numpy as np
from brian2 import Network, NeuronGroup, SpikeMonitor, Synapses, defaultclock, device, mV, ms, prefs, set_device

project, neurons, threads, warm, steps = sys.argv[1], *map(int, sys.argv[2:6])
directory = os.path.dirname(project)
set_device("cpp_standalone", directory=project, build_on_run=False)
prefs.devices.cpp_standalone.openmp_threads = threads if threads > 1 else 0
defaultclock.dt = 0.1 * ms

cells = NeuronGroup(neurons, "dv/dt = (21*mV - v) / (100*ms) : volt (unless refractory)", method="exact",
                    threshold="v >= 20*mV", reset="v = 19.9167*mV", refractory=2 * ms)
cells.v = np.fromfile(f"{directory}/v", dtype="<f4") * mV
source, target = (np.fromfile(f"{directory}/{name}", dtype="<i4") for name in ("source", "target"))
weight = np.fromfile(f"{directory}/weight", dtype="<f4")
with open(f"{directory}/groups") as f:
    groups = json.load(f)
synapses = []
for g in groups:
    if g["plastic"]:  # the additive pair rule of bench/learning.go
        step = 1e-4 * max(-g["low"], g["high"]) * mV
        constants = {"low": g["low"] * mV, "high": g["high"] * mV, "up": step, "down": 1.05 * step, "tau": 20 * ms}
        s = Synapses(cells, cells, "w : volt\ndx/dt = -x/tau : 1 (event-driven)\ndy/dt = -y/tau : 1 (event-driven)", namespace=constants,
                     on_pre="x += 1\nw = clip(w - down*y, low, high)\nv_post += w", on_post="y += 1\nw = clip(w + up*x, low, high)")
    else:
        s = Synapses(cells, cells, "w : volt (constant)", on_pre="v_post += w")
    of = slice(g["first"], g["first"] + g["synapses"])
    s.connect(i=source[of], j=target[of])
    s.w = weight[of] * mV
    synapses.append(s)
spikes = SpikeMonitor(cells, record=False)  # counts only
network = Network(cells, *synapses, spikes)
network.run(warm * defaultclock.dt)
network.run(steps * defaultclock.dt)
device.build(directory=project, run=True, compile=True, with_output=False)
print(json.dumps({"spikes": float(np.sum(spikes.count)) / (warm + steps)}))
