import burst

net = burst.Network("conductances", timestep="0.1 ms", threads=THREADS, backend="cpu", progress=False)
lif = {
    "C": "200 pF",
    "g_L": "10 nS",
    "rest": "-60 mV",
    "reset": "-60 mV",
    "threshold": "-50 mV",
    "E_in": "-80 mV",
    "tau_syn_ex": "5 ms",
    "tau_syn_in": "10 ms",
    "refractory": "5 ms",
    "I_e": "200 pA",
}
E = net.area("E", 3200, "lif_cond_exp", **lif, init={"V": "uniform(-60 mV, -50 mV)"})
I = net.area("I", 800, "lif_cond_exp", **lif, init={"V": "uniform(-60 mV, -50 mV)"})
for target in ("E", "I"):
    net.connect(E, {"area": target, "port": "ex"}, "pairwise_bernoulli", p=0.02, weight="6 nS", delay="0.8 ms")
    net.connect(I, {"area": target, "port": "in"}, "pairwise_bernoulli", p=0.02, weight="67 nS", delay="0.8 ms")
run = lambda ms: net.run(f"{ms} ms")
spikes = lambda: len(net.spikes)
