"""NEST's f-I curves of adaptive exponential neurons with parameters and steps beside the usual ones, as JSON: nest_varied.json.

Run: pip install nest-simulator==3.10.0, then python nest_varied.py nest_varied.json
"""
import json
import sys

import nest

NAMES = {"C": "C_m", "rest": "E_L", "reset": "V_reset", "threshold": "V_th", "peak": "V_peak", "slope": "Delta_T", "refractory": "t_ref"}
UNITS = {"C": "pF", "g_L": "nS", "a": "nS", "b": "pA", "tau_w": "ms", "refractory": "ms"}  # the others are in mV
MODELS = {"aeif_psc_exp": "adex", "aeif_psc_alpha": "adex_psc_alpha", "aeif_cond_exp": "adex_cond_exp", "aeif_cond_alpha": "adex_cond_alpha"}
# Step in ms, currents in pA, parameters: no refractory time, adaptation by the potential, a reset near the threshold, adaptation below 0.
CASES = [
    (0.1, [1352, 3380], {"C": 147, "g_L": 36.5, "rest": -77.8, "threshold": -62.1, "slope": 1.84, "peak": -25.7, "reset": -80.5, "a": 10.8, "b": 0, "tau_w": 72.7, "refractory": 0}),
    (0.1, [540, 667], {"C": 87, "g_L": 18.9, "rest": -68, "threshold": -50.2, "slope": 1.35, "peak": -18.2, "reset": -51.8, "a": 11.4, "b": 3.35, "tau_w": 78.7, "refractory": 1}),
    (0.2, [307, 768], {"C": 65.8, "g_L": 15.4, "rest": -76.2, "threshold": -65, "slope": 1.24, "peak": -16.5, "reset": -69.7, "a": -1.23, "b": 0, "tau_w": 33.7, "refractory": 5}),
    (0.05, [448, 1121], {"C": 86.4, "g_L": 12.6, "rest": -68.2, "threshold": -54.4, "slope": 0.75, "peak": -37.6, "reset": -67.6, "a": 4.36, "b": 6.13, "tau_w": 47.7, "refractory": 0}),
]
RUN = 2000.0  # ms


def rate(model, step, current, params):
    """The spikes a second after 500 ms: their intervals over the time from the first to the last."""
    nest.ResetKernel()
    nest.verbosity = nest.VerbosityLevel.ERROR
    nest.resolution = step
    cell = nest.Create(model, params={**{NAMES.get(k, k): float(v) for k, v in params.items()}, "V_m": float(params["rest"]), "I_e": float(current)})
    recorder = nest.Create("spike_recorder")
    nest.Connect(cell, recorder)
    nest.Simulate(RUN)
    times = sorted(t for t in recorder.events["times"] if t > 500)
    return 1000 * (len(times) - 1) / (times[-1] - times[0])


rows = []
for model, ours in MODELS.items():
    for step, currents, params in CASES:
        text = ", ".join(f"{k}: {v} {UNITS.get(k, 'mV')}" for k, v in params.items())
        rows.append({"model": ours, "params": text, "neurons": 1, "step_ms": step, "current_pA": currents, "rate_hz": [rate(model, step, c, params) for c in currents]})
with open(sys.argv[1], "w") as f:
    json.dump(rows, f, indent=1)
    f.write("\n")
