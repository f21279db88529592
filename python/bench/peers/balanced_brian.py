from brian2 import Network, NeuronGroup, PoissonInput, SpikeMonitor, Synapses, defaultclock, kHz, ms, mV
import numpy as np

defaultclock.dt = 0.1 * ms
cells = NeuronGroup(
    5000,
    "dv/dt = -v/(20*ms) : volt (unless refractory)",
    threshold="v >= 20*mV",
    reset="v = 10*mV",
    refractory=2 * ms,
    method="exact",
)
noise = PoissonInput(cells, "v", 400, 0.02 * kHz, weight=0.25 * mV)
random = np.random.default_rng(1)
excite = Synapses(cells, cells, on_pre="v_post += 0.25*mV", delay=1.5 * ms)
excite.connect(i=random.integers(0, 4000, 5000 * 400), j=np.arange(5000).repeat(400))
inhibit = Synapses(cells, cells, on_pre="v_post -= 1.25*mV", delay=1.5 * ms)
inhibit.connect(i=random.integers(4000, 5000, 5000 * 100), j=np.arange(5000).repeat(100))
monitor = SpikeMonitor(cells)
net = Network(cells, noise, excite, inhibit, monitor)
run = lambda t: net.run(t * ms)
spikes = lambda: monitor.num_spikes
