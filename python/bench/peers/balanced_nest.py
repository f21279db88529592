import nest

nest.set(resolution=0.1, local_num_threads=THREADS, print_time=False)
lif = {"tau_m": 20.0, "V_th": 20.0, "V_reset": 10.0, "E_L": 0.0, "V_m": 0.0, "t_ref": 2.0}
E = nest.Create("iaf_psc_delta", 4000, lif)
I = nest.Create("iaf_psc_delta", 1000, lif)
noise = nest.Create("poisson_generator", params={"rate": 8000.0})
recorder = nest.Create("spike_recorder")
for target in (E, I):
    nest.Connect(E, target, {"rule": "fixed_indegree", "indegree": 400}, {"weight": 0.25, "delay": 1.5})
    nest.Connect(I, target, {"rule": "fixed_indegree", "indegree": 100}, {"weight": -1.25, "delay": 1.5})
    nest.Connect(noise, target, syn_spec={"weight": 0.25, "delay": 0.1})
    nest.Connect(target, recorder)
run = nest.Simulate
spikes = lambda: recorder.n_events
