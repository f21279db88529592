from brian2 import Hz, Network, NeuronGroup, PoissonGroup, SpikeMonitor, Synapses, defaultclock, ms, mV

defaultclock.dt = 0.1 * ms
inputs = PoissonGroup(1000, 15 * Hz)
cell = NeuronGroup(
    1,
    "dv/dt = -v/(10*ms) : volt (unless refractory)",
    threshold="v >= 15*mV",
    reset="v = 0*mV",
    refractory=2 * ms,
    method="exact",
)
learn = Synapses(
    inputs,
    cell,
    """w : volt
dx/dt = -x/(20*ms) : 1 (event-driven)
dy/dt = -y/(20*ms) : 1 (event-driven)""",
    on_pre="v_post += w; x += 1; w = clip(w - 0.0105*y*0.24*mV, 0*mV, 0.24*mV)",
    on_post="y += 1; w = clip(w + 0.01*x*0.24*mV, 0*mV, 0.24*mV)",
    delay=1 * ms,
)
learn.connect()
learn.w = 0.12 * mV
monitor, all_inputs = SpikeMonitor(cell), SpikeMonitor(inputs)
net = Network(inputs, cell, learn, monitor, all_inputs)
run = lambda t: net.run(t * ms)
spikes = lambda: monitor.num_spikes
