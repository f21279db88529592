"""Compiles a wiring that bench/peers exported with Brian2's cpp_standalone, runs it once and prints the spikes a step.

The program is PROJECT/main; the wiring lies beside PROJECT.

usage: brian.py PROJECT NEURONS THREADS WARM STEPS
The neurons are burst-100k's: lif, 21 mV of drive, tau 100 ms, reset 19.9167 mV, threshold 20 mV, refractory 2 ms.
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
synapses = Synapses(cells, cells, "w : volt (constant)", on_pre="v_post += w")
synapses.connect(i=np.fromfile(f"{directory}/source", dtype="<i4"), j=np.fromfile(f"{directory}/target", dtype="<i4"))
synapses.w = np.fromfile(f"{directory}/weight", dtype="<f4") * mV
spikes = SpikeMonitor(cells, record=False)  # counts only
network = Network(cells, synapses, spikes)
network.run(warm * defaultclock.dt)
network.run(steps * defaultclock.dt)
device.build(directory=project, run=True, compile=True, with_output=False)
print(json.dumps({"spikes": float(np.sum(spikes.count)) / (warm + steps)}))
