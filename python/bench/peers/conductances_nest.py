import nest

nest.set(resolution=0.1, local_num_threads=THREADS, print_time=False)
lif = {
    "C_m": 200.0,
    "g_L": 10.0,
    "E_L": -60.0,
    "V_reset": -60.0,
    "V_th": -50.0,
    "E_ex": 0.0,
    "E_in": -80.0,
    "tau_syn_ex": 5.0,
    "tau_syn_in": 10.0,
    "t_ref": 5.0,
    "I_e": 200.0,
    "V_m": nest.random.uniform(-60.0, -50.0),
}
E = nest.Create("iaf_cond_exp", 3200, lif)
I = nest.Create("iaf_cond_exp", 800, lif)
recorder = nest.Create("spike_recorder")
for target in (E, I):
    nest.Connect(E, target, {"rule": "pairwise_bernoulli", "p": 0.02}, {"weight": 6.0, "delay": 0.8})
    nest.Connect(I, target, {"rule": "pairwise_bernoulli", "p": 0.02}, {"weight": -67.0, "delay": 0.8})
    nest.Connect(target, recorder)
run = nest.Simulate
spikes = lambda: recorder.n_events
