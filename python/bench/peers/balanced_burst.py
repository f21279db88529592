import burst

net = burst.Network("balanced", timestep="0.1 ms", threads=THREADS, backend="cpu", progress=False)
lif = {"tau": "20 ms", "threshold": "20 mV", "reset": "10 mV", "refractory": "2 ms"}
E = net.area("E", 4000, "lif", **lif, drive={"poisson": {"rate": "8 kHz", "weight": "0.25 mV"}})
I = net.area("I", 1000, "lif", **lif, drive={"poisson": {"rate": "8 kHz", "weight": "0.25 mV"}})
for target in (E, I):
    net.connect(E, target, "fixed_indegree", indegree=400, weight="0.25 mV", delay="1.5 ms")
    net.connect(I, target, "fixed_indegree", indegree=100, weight="-1.25 mV", delay="1.5 ms")
run = lambda ms: net.run(f"{ms} ms")
spikes = lambda: len(net.spikes)
