"""NEST's f-I curves and peaks of post-synaptic potentials, as JSON; nest_models.json has what NEST 3.10.0 gives.

Run: pip install nest-simulator==3.10.0, then python nest_models.py nest_models.json
"""
import json
import sys

import nest

# The neuron of S. Mensi et al. (2012), in NEST's words and in ours.
MENSI = {
    "C_m": 83.1, "g_L": 3.7, "E_L": -67.0, "Delta_V": 1.4, "V_T_star": -39.6, "t_ref": 4.0, "V_reset": -36.7, "lambda_0": 1.0,
    "q_stc": [56.7, -6.9], "tau_stc": [57.8, 218.2], "q_sfa": [11.7, 1.8], "tau_sfa": [53.8, 640.0],
}
OURS = {"gif": "C: 83.1 pF, g_L: 3.7 nS, rest: -67 mV, Delta_V: 1.4 mV, V_T_star: -39.6 mV, refractory: 4 ms, reset: -36.7 mV, lambda_0: 1 Hz, "
               "q_stc_1: 56.7 pA, tau_stc_1: 57.8 ms, q_stc_2: -6.9 pA, tau_stc_2: 218.2 ms, q_sfa_1: 11.7 mV, tau_sfa_1: 53.8 ms, q_sfa_2: 1.8 mV, tau_sfa_2: 640 ms"}
MANY = 8000  # neurons whose mean is the rate of one that draws random numbers; ours has fewer
FEW = 200

# NEST's model, our name, currents in pA, weights of a spike to the excitatory and the inhibitory receptor (mV, pA or nS), parameters.
MODELS = [
    ("iaf_psc_delta", "lif_psc_delta", [380, 400, 450, 600, 1000], (0.5, -0.5), {}),
    ("iaf_psc_alpha", "lif_psc_alpha", [380, 400, 450, 600, 1000], (50.0, -50.0), {}),
    ("iaf_cond_exp", "lif_cond_exp", [255, 270, 300, 400, 800], (10.0, 5.0), {}),
    ("iaf_cond_alpha", "lif_cond_alpha", [255, 270, 300, 400, 800], (5.0, 5.0), {}),
    ("aeif_psc_exp", "adex", [700, 800, 1000, 1300], (400.0, -100.0), {}),
    ("aeif_cond_exp", "adex_cond_exp", [700, 800, 1000, 1300], (10.0, 5.0), {}),
    ("hh_cond_exp_traub", "hh_cond_exp", [100, 200, 400, 800], (0.5, 1.0), {}),  # its PSPs under I_PSP, or it would fire
    ("aeif_psc_alpha", "adex_psc_alpha", [700, 800, 1000, 1300], (100.0, -100.0), {}),
    ("aeif_cond_alpha", "adex_cond_alpha", [700, 800, 1000, 1300], (5.0, 5.0), {}),
    ("mat2_psc_exp", "mat2_psc_exp", [390, 420, 500, 700], (100.0, -100.0), {}),
    ("gif_psc_exp", "gif", [150, 200, 300, 500], (20.0, -20.0), MENSI),  # its rate is the mean of many neurons
    ("glif_psc", "glif_1", [280, 300, 400, 600], (10.0, -10.0), {"t_ref": 3.8}),
    ("glif_psc", "glif_2", [280, 300, 400, 600], (10.0, -10.0), {"t_ref": 3.8, "spike_dependent_threshold": True}),
    ("glif_psc", "glif_3", [280, 300, 400, 600], (10.0, -10.0), {"t_ref": 3.8, "after_spike_currents": True}),
    ("iaf_psc_delta", "lif", [260, 300, 400, 600], (0.5, -0.5), {"tau_m": 20.0, "C_m": 250.0, "E_L": 0.0, "V_reset": 10.0, "V_th": 20.0, "V_m": 0.0}),
    ("iaf_psc_exp", "lif_psc_exp", [380, 400, 450, 600, 1000], (50.0, -50.0), {}),
    ("iaf_psc_exp", "lif_psc_exp_event", [380, 400, 450, 600, 1000], (50.0, -50.0), {}),
    ("izhikevich", "izhikevich", [5, 8, 12, 20], (2.0, -2.0), {"consistent_integration": False}),
]
I_PSP = {"hh_cond_exp_traub": -100.0}  # pA
STEP = 0.1  # ms
RUN = 2000.0  # ms
ARRIVES = 700.0  # ms, of the spike whose potential is looked at


def reset():
    nest.ResetKernel()
    nest.set_verbosity("M_ERROR")
    nest.resolution = STEP


def rate(model, current, params):
    """The spikes a second after 500 ms: their intervals over the time from the first to the last."""
    reset()
    if model == "glif_psc":
        cell = nest.Create(model, params=params)
        nest.Connect(nest.Create("dc_generator", params={"amplitude": current}), cell)
    else:
        cell = nest.Create(model, MANY if model == "gif_psc_exp" else 1, params={**params, "I_e": float(current)})
    recorder = nest.Create("spike_recorder")
    nest.Connect(cell, recorder)
    nest.Simulate(RUN)
    if len(cell) > 1:
        return 1000 * sum(recorder.events["times"] > 500) / len(cell) / (RUN - 500)
    times = sorted(t for t in recorder.events["times"] if t > 500)
    if len(times) < 3:
        raise SystemExit(f"{model} at {current} pA: {len(times)} spikes")
    return 1000 * (len(times) - 1) / (times[-1] - times[0])


def psp(model, weight, receptor, params):
    """The largest distance of V from where it was before the spike arrived, in mV, with its sign."""
    reset()
    cell = nest.Create(model, params=params)
    if model in I_PSP:
        cell.I_e = I_PSP[model]
    source = nest.Create("spike_generator", params={"spike_times": [ARRIVES - 1]})
    how = {"weight": weight, "delay": 1.0}
    if "cond" in model and receptor == 1:
        how["weight"] = -weight
    if model == "glif_psc":
        how["receptor_type"] = 1
    nest.Connect(source, cell, syn_spec=how)
    meter = nest.Create("multimeter", params={"record_from": ["V_m"], "interval": STEP})
    nest.Connect(meter, cell)
    nest.Simulate(ARRIVES + 200)
    v = {round(t / STEP): x for t, x in zip(meter.events["times"], meter.events["V_m"])}
    base = v[round(ARRIVES / STEP) - 1]
    return max((x - base for k, x in v.items() if k * STEP >= ARRIVES - STEP / 2), key=abs)


out = {"nest": nest.__version__, "step_ms": STEP, "run_ms": RUN, "models": []}
for model, ours, currents, weights, params in MODELS:
    print(model, ours, file=sys.stderr)
    out["models"].append({
        "nest": model, "model": ours, "params": OURS.get(ours, ""), "neurons": FEW if model == "gif_psc_exp" else 1,
        "current_pA": currents, "rate_hz": [rate(model, c, params) for c in currents],
        "psp_current_pA": I_PSP.get(model, 0), "weight": weights, "psp_mV": [psp(model, w, k, params) for k, w in enumerate(weights)],
    })
with open(sys.argv[1], "w") as f:
    json.dump(out, f, indent=1)
    f.write("\n")
