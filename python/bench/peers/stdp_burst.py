import burst

net = burst.Network("stdp", timestep="0.1 ms", threads=THREADS, backend="cpu", progress=False)
inputs = net.area("inputs", 1000, "poisson", rate="15 Hz")
cell = net.area("cell", 1, "lif", tau="10 ms", threshold="15 mV", reset="0 mV", refractory="2 ms")
net.connect(
    inputs,
    cell,
    "all_to_all",
    weight="0.12 mV",
    delay="1 ms",
    plasticity={"rule": "stdp", "mu_plus": 0, "mu_minus": 0, "lambda": 0.01, "alpha": 1.05, "w_max": "0.24 mV"},
)
run = lambda ms: net.run(f"{ms} ms")
spikes = lambda: len(net.spikes["cell"])
