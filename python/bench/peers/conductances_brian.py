from brian2 import Network, NeuronGroup, SpikeMonitor, Synapses, defaultclock, ms, mV, nS, pA, pF

defaultclock.dt = 0.1 * ms
cells = NeuronGroup(
    4000,
    """
dv/dt = (10*nS*(-60*mV - v) + ge*(0*mV - v) + gi*(-80*mV - v) + 200*pA)/(200*pF) : volt (unless refractory)
dge/dt = -ge/(5*ms) : siemens
dgi/dt = -gi/(10*ms) : siemens""",
    threshold="v >= -50*mV",
    reset="v = -60*mV",
    refractory=5 * ms,
    method="rk4",
)
cells.v = "-60*mV + 10*mV*rand()"
excite = Synapses(cells, cells, on_pre="ge += 6*nS", delay=0.8 * ms)
excite.connect("i < 3200", p=0.02)
inhibit = Synapses(cells, cells, on_pre="gi += 67*nS", delay=0.8 * ms)
inhibit.connect("i >= 3200", p=0.02)
monitor = SpikeMonitor(cells)
net = Network(cells, excite, inhibit, monitor)
run = lambda t: net.run(t * ms)
spikes = lambda: monitor.num_spikes
