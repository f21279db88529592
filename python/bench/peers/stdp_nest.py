import nest

nest.set(resolution=0.1, local_num_threads=THREADS, print_time=False)
inputs = nest.Create("parrot_neuron", 1000)
nest.Connect(nest.Create("poisson_generator", params={"rate": 15.0}), inputs)
cell = nest.Create(
    "iaf_psc_delta", params={"tau_m": 10.0, "V_th": 15.0, "V_reset": 0.0, "E_L": 0.0, "V_m": 0.0, "t_ref": 2.0}
)
nest.Connect(
    inputs,
    cell,
    "all_to_all",
    {
        "synapse_model": "stdp_synapse",
        "weight": 0.12,
        "delay": 1.0,
        "lambda": 0.01,
        "alpha": 1.05,
        "mu_plus": 0.0,
        "mu_minus": 0.0,
        "Wmax": 0.24,
    },
)
recorder, all_inputs = nest.Create("spike_recorder", 2)
nest.Connect(cell, recorder)
nest.Connect(inputs, all_inputs)
run = nest.Simulate
spikes = lambda: recorder.n_events
