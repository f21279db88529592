"""Works out what burst gives, to the last bit, from its documentation alone: docs/bits.md, `go doc ./engine`, `go doc ./connectome`.

    python3 docs/predict/predict.py > predicted.json

The output is a list of genomes, each with the digest, the spikes and the hashes of connectome and last state that burst must reach. Nothing but Python's standard
library is used.
"""
import json
import math
import struct

from exact import (DELAY, F, FORMULA, INITIAL, M32, M64, NORMAL_DRIVE, POISSON, POISSON_DRIVE, WEIGHT, WIRING, below, bits32, bits64, draw, exp, exp32, expm1, fold, log, log1p,
                   normal, normal32, normal_thresholds, numbers, passed, poisson_thresholds, random32, uniform, whole, xxhash64)

# Genomes: of quantities the number is taken as it stands, so all are in base units.

def value(v):
    """A number, a quantity, or a distribution with its numbers and a lower bound."""
    if not isinstance(v, str):
        return float(v)
    name, bracket, rest = v.partition("(")
    if not bracket:
        return float(v.split()[0])
    inside, _, bound = rest.partition(")")
    a, b = (value(s) for s in inside.split(","))
    return name, a, b, value(bound.replace(">", "")) if bound else -math.inf

def drawn(v, seed, purpose, index, stream):
    if not isinstance(v, tuple):
        return v
    name, a, b, bound = v
    for attempt in range(2**16):
        x, _ = numbers(seed, purpose, index, stream, attempt)
        if name == "uniform":
            out = a + (b - a) * uniform(x)
        elif name == "normal":
            out = a + b * normal(x)
        else:
            variance = log1p((b / a) * (b / a))
            out = math.copysign(exp((log(abs(a)) - variance * 0.5) + math.sqrt(variance) * normal(x)), a)
        if out > bound:
            return out

class Lif:
    number, ports = 1, 1
    defaults = {"tau": 20, "C": 250, "rest": 0, "reset": 10, "threshold": 20, "refractory": 2}

    def __init__(self, p, dt):
        em1 = expm1(-dt / p["tau"])
        self.term = lambda i: -em1 * (p["tau"] / p["C"] * i)
        self.em1, self.threshold, self.reset = F(em1), F(p["threshold"] - p["rest"]), F(p["reset"] - p["rest"])
        self.silence, self.rest = whole(p["refractory"] / dt), p["rest"]
        self.words = [bits32(x) for x in (self.em1, self.threshold, self.reset, float(self.silence))]

    def start(self, v):
        return [F((self.rest if v is None else v) - self.rest)]

    def step(self, s, quiet, inputs, drive):
        if quiet:
            return False
        s[0] = F(F(s[0] + F(F(self.em1 * s[0]) + drive)) + inputs[0])
        if s[0] >= self.threshold:
            s[0] = self.reset
            return True
        return False

class LifPscExp(Lif):
    number, ports = 2, 2
    defaults = {"tau": 10, "C": 250, "tau_syn_ex": 2, "tau_syn_in": 2, "rest": -70, "reset": -70, "threshold": -55, "refractory": 2}

    def __init__(self, p, dt):
        super().__init__(p, dt)
        self.p21, self.p11 = [], []
        for syn in (p["tau_syn_ex"], p["tau_syn_in"]):
            beta = p["tau"] * syn / (p["tau"] - syn)
            self.p21.append(F(beta / p["C"] * exp(-dt / syn) * expm1(dt / beta)))
            self.p11.append(F(exp(-dt / syn)))
        self.words[1:1] = [bits32(x) for x in self.p21 + self.p11]

    def start(self, v):
        return super().start(v) + [0.0, 0.0]

    def step(self, s, quiet, inputs, drive):
        v, ex, inh = s
        if not quiet:
            v = F(F(F(F(v + F(self.em1 * v)) + F(self.p21[0] * ex)) + F(self.p21[1] * inh)) + drive)
        s[1], s[2] = F(F(self.p11[0] * ex) + inputs[0]), F(F(self.p11[1] * inh) + inputs[1])
        fires = not quiet and v >= self.threshold
        s[0] = self.reset if fires else v
        return fires

class Izhikevich:
    number, ports, silence = 3, 1, 0
    defaults = {"a": 0.02, "b": 0.2, "c": -65, "d": 8, "threshold": 30}

    def __init__(self, p, dt):
        self.half, self.adt = F(dt / 2), F(p["a"] * dt)
        self.b, self.c, self.d, self.threshold = F(p["b"]), F(p["c"]), F(p["d"]), F(p["threshold"])
        self.words = [bits32(x) for x in (self.half, self.adt, self.b, self.c, self.d, self.threshold)]
        self.term = lambda i: i

    def start(self, v):
        v = F(-65 if v is None else v)
        return [v, F(self.b * v)]

    def step(self, s, quiet, inputs, drive):
        v, u = s
        i = F(inputs[0] + drive)
        for _ in range(2):
            x = F(F(F(F(F(F(F(0.04) * v) * v) + F(5 * v)) + 140) - u) + i)
            v = F(v + F(self.half * x))
        u = F(u + F(self.adt * F(F(self.b * v) - u)))
        fires = v >= self.threshold
        s[:] = (self.c, F(u + self.d)) if fires else (v, u)
        return fires

class Adex:
    """The model of ADEX below, its formulas written out operation by operation."""
    number, ports, words = 6, 1, None

    def __init__(self, p, dt):
        for name, x in p.items():
            setattr(self, name, F(x))
        self.dt, self.keep, self.silence = F(dt), F(exp(-dt / p["tau_w"])), whole(p["refractory"] / dt)

    def start(self, v):
        return [F(v), F(self.a * F(F(v) - self.E))]

    def step(self, s, quiet, inputs, drive):
        v, w = s
        if not quiet:
            rise = F(F(self.g * self.slope) * exp32(F(F(v - self.T) / self.slope)))
            current = F(F(F(F(self.g * F(self.E - v)) + rise) - w) + inputs[0])
            v = F(v + F(F(self.dt / self.C) * current))
        w = F(F(self.keep * w) + F(F(1 - self.keep) * F(self.a * F(v - self.E))))
        fires = v >= self.cut and not quiet
        s[:] = (self.low, F(w + self.b)) if fires else (v, w)
        return fires

ADEX = {
    "name": "adex", "input": "pA",
    "params": {"C": "200 pF", "g": 10, "E": "-70 mV", "T": "-50 mV", "slope": "2 mV", "tau_w": "120 ms", "a": 2, "b": "60 pA", "low": "-58 mV", "cut": "0 mV", "refractory": "2 ms"},
    "constants": {"keep": "exp(-dt/tau_w)"},
    "state": {"v": "normal(-65 mV, 4 mV)", "w": "a*(v - E)"},
    "update": ["v = select(refractory, v, v + dt/C*(g*(E - v) + g*slope*exp((v - T)/slope) - w + input))", "w = keep*w + (1 - keep)*(a*(v - E))"],
    "threshold": "v >= cut", "reset": ["v = low", "w = w + b"],
}
class Noisy:
    """The model of NOISY below: its calls of normal and random are draws 0, 1 and 2."""
    number, ports, words = 6, 1, None

    def __init__(self, p, dt):
        for name, x in p.items():
            setattr(self, name, F(x))
        self.dt, self.silence = F(dt), whole(p["refractory"] / dt)

    def start(self, v):
        return [F(v)]

    def step(self, s, quiet, inputs, drive, word):
        v = self.low
        if not quiet:
            step = F(F(self.dt / self.tau) * F(self.rest - s[0]))
            v = F(F(F(s[0] + step) + F(self.sd * normal32(word(0)))) + inputs[0])
        fires = random32(word(1)) < F(self.chance * exp32(F(F(v - self.T) / self.slope))) and not quiet
        s[0] = F(self.low + random32(word(2))) if fires else v
        return fires

NOISY = {
    "name": "noisy", "input": "mV",
    "params": {"tau": "20 ms", "rest": "-60 mV", "low": "-62 mV", "sd": "0.7 mV", "T": "-50 mV", "slope": "3 mV", "chance": 0.05, "refractory": "1 ms"},
    "state": {"v": "-60 mV"},
    "update": ["v = select(refractory, low, v + dt/tau*(rest - v) + sd*normal() + input)"],
    "threshold": "random() < chance*exp((v - T)/slope)", "reset": ["v = low + random()"],
}
Adex.own, Noisy.own = ADEX, NOISY
MODELS = {"lif": Lif, "lif_psc_exp": LifPscExp, "izhikevich": Izhikevich, "adex": Adex, "noisy": Noisy}

class Network:
    def __init__(self, g):
        self.g, self.dt = g, value(g["timestep"])
        self.seed, self.run_seed, self.scale = g["seed"], g.get("run_seed", g["seed"]), g["scale"]
        self.areas, first, port = [], 0, 0
        for number, a in enumerate(g["areas"]):
            kind = MODELS.get(a["model"])
            area = {"number": number, "first": first, "n": a["neurons"], "port": port, "kind": kind, "from": a}
            if kind:
                p = dict(getattr(kind, "defaults", None) or {k: value(v) for k, v in kind.own["params"].items()})
                p.update((k, v * self.dt if k == "refractory" else value(v)) for k, v in a.get("params", {}).items())
                area["model"] = kind(p, self.dt)
                port += kind.ports * a["neurons"]
            else:
                area["below"] = whole(value(a["params"]["rate"]) * self.dt / 1000 * 2.0**32)
            area["drives"] = [self.drive(d, area) for d in a.get("drive", [])]
            self.areas.append(area)
            first += a["neurons"]
        self.neurons, self.ports = first, port
        self.rows = [[] for _ in range(first)]  # of (port, quanta, delay)
        for number, p in enumerate(g["projections"]):
            self.connect(number, p)
        self.state = [self.start(a, n) for a in self.areas for n in range(a["n"])]

    def quanta(self, amount):
        return whole(amount * self.scale)

    def drive(self, d, area):
        if "poisson" in d:
            q = self.quanta(value(d["poisson"]["weight"]))
            t = poisson_thresholds(value(d["poisson"]["rate"]), self.dt)
            return 1, POISSON_DRIVE, t, [k * q for k in range(len(t) + 1)], q, 0.0
        if "normal" in d:
            mean, sd = value(d["normal"].get("mean", 0)), value(d["normal"]["sd"])
            return 3, NORMAL_DRIVE, normal_thresholds(), [self.quanta(mean + (k - 396) * sd / 64) for k in range(793)], 0, 0.0
        return 2, 0, [], [], 0, area["model"].term(value(d["constant"]))

    def connect(self, number, p):
        source, target = (next(a for a in self.areas if a["from"]["name"] == p[end]) for end in ("from", "to"))
        sources, targets, rule = source["n"], target["n"], p["rule"]
        alone = source is target and not p.get("autapses", True)
        weight, delay = value(p["weight"]), value(p.get("delay", 1))
        if isinstance(p.get("delay"), str):
            delay = (delay[0], delay[1] / self.dt, delay[2] / self.dt, delay[3]) if isinstance(delay, tuple) else delay / self.dt

        def past(owner, n):
            return n + 1 if alone and n >= owner else n

        pairs = []
        if rule == "fixed_indegree":
            for o in range(targets * p["indegree"]):
                x, t = numbers(self.seed, WIRING, o, number)[0], o // p["indegree"]
                pairs.append((past(t, below(x, sources - alone)), t, o))
        elif rule == "fixed_outdegree":
            for o in range(sources * p["outdegree"]):
                x, s = numbers(self.seed, WIRING, o, number)[0], o // p["outdegree"]
                pairs.append((s, past(s, below(x, targets - alone)), o))
        elif rule == "fixed_total_number":
            for k in range(p["count"]):
                x, y = numbers(self.seed, WIRING, k, number)
                s = below(x, sources)
                pairs.append((s, past(s, below(y, targets - alone)), k))
        elif rule == "pairwise_bernoulli":
            for s in range(sources):
                c = 0
                while c < targets:
                    x, _ = numbers(self.seed, WIRING, s * targets + c, number)
                    c += math.floor(log(1 - uniform(x)) / log1p(-p["p"]))
                    if c < targets and not (alone and c == s):
                        pairs.append((s, c, s * targets + c))
                    c += 1
        else:
            pairs = [(s, t, s * targets + t) for s in range(sources) for t in range(targets) if not (alone and s == t)]
        for s, t, ordinal in pairs:
            q = self.quanta(drawn(weight, self.seed, WEIGHT, ordinal, number))
            port = target["port"] + t + (targets if q < 0 and target["kind"].ports == 2 else 0)
            self.rows[source["first"] + s].append((port, q, whole(drawn(delay, self.seed, DELAY, ordinal, number))))

    def start(self, area, n):
        if not area["kind"]:
            return [0.0]
        own = getattr(area["kind"], "own", None)
        given = area["from"].get("init", own["state"] if own else {}).get("v" if own else "V")
        v = None if given is None else drawn(value(given), self.seed, INITIAL, area["first"] + n, area["number"])
        return area["model"].start(v)

    def run(self, bursts):
        digest, spikes, queues = 0, 0, []
        coming = [[0] * self.ports for _ in range(256)]
        quiet = [0] * self.neurons
        for t in range(bursts):
            acc, fired = coming[t % 256], []
            for a in self.areas:
                self.burst(t, a, acc, quiet, fired)
            coming[t % 256] = [0] * self.ports
            for n in fired:
                for port, q, delay in self.rows[n]:
                    coming[(t + delay) % 256][port] += q
            digest = xxhash64(struct.pack("<QQ%dI" % len(fired), t, len(fired), *fired), digest)
            spikes += len(fired)
            queues.insert(0, fired)
        return "%016x" % digest, spikes, "%016x" % self.state_hash(bursts, digest, quiet, queues)

    def state_hash(self, t, digest, quiet, queues):
        n, longest = self.neurons, max(delay for row in self.rows for _, _, delay in row)
        data = struct.pack("<QQ%df%dH%dH" % (n, n, n), t, digest, *(s[0] for s in self.state), *quiet, *[0] * n)
        for q in queues[:longest]:
            data += struct.pack("<Q%dI" % len(q), len(q), *q)
        for k in range(1, max(len(s) for s in self.state)):
            data += struct.pack("<%df" % n, *(s[k] if k < len(s) else 0.0 for s in self.state))
        return xxhash64(data, 0)

    def burst(self, t, a, acc, quiet, fired):
        words, first, term = {}, a["first"], 0.0

        def word(purpose, n, place=0):
            key = purpose, place, n // 4
            if key not in words:
                words[key] = draw(self.run_seed, purpose, n // 4 | place << 32, t)
            return words[key][n % 4]

        if not a["kind"]:
            fired.extend(n for n in range(first, first + a["n"]) if word(POISSON, n) < a["below"])
            return
        for place, (kind, purpose, thresholds, amounts, _, constant) in enumerate(a["drives"]):
            term += constant
            for i in range(a["n"] if purpose else 0):
                q = amounts[passed(thresholds, word(purpose, first + i, place))]
                acc[a["port"] + i + (a["n"] if q < 0 and a["kind"].ports == 2 else 0)] += q
        term, m, ports = F(term), a["model"], a["kind"].ports
        for i in range(a["n"]):
            inputs = [F(F(float(acc[a["port"] + i + k * a["n"]])) / self.scale) for k in range(ports)]
            n = first + i
            draws = [lambda k: word(FORMULA, n, k)] if a["kind"] is Noisy else []
            fires = m.step(self.state[n], quiet[n] > 0, inputs, term, *draws)
            if fires:
                fired.append(n)
            quiet[n] = m.silence if fires else max(0, quiet[n] - 1)

    def hash(self):
        """The connectome's, of the network before burst 0; None with a model of the genome's own."""
        total = 0
        for a in self.areas:
            number = a["kind"].number if a["kind"] else 4
            if number == 6:
                return None
            h = fold(2, self.scale)
            h = fold(h, number)
            for kind, _, thresholds, amounts, q, term in a["drives"]:
                entries = [x & M32 for x in amounts] if kind == 3 else []
                h = fold(h, kind, 0, M64, q & M32, bits64(term), len(thresholds), *thresholds, len(entries), *entries, 0)
            for n in range(a["first"], a["first"] + a["n"]):
                own = a["model"].words if a["kind"] else [a["below"], 0, M64]
                total += fold(h, n, *own, *(bits32(x) for x in self.state[n]))
        for source, row in enumerate(self.rows):
            for port, q, delay in row:
                total += fold(1, source << 32 | port, (q & M32) << 8 | delay)
        return "%016x" % (total & M64)

def genomes():
    def poisson(rate, weight):
        return {"poisson": {"rate": "%g Hz" % rate, "weight": weight}}
    yield 120, {
        "name": "poisson", "seed": 2**40 + 7, "run_seed": 3, "timestep": "0.1 ms", "scale": 10000,
        "areas": [
            {"name": "E", "neurons": 41, "model": "lif", "drive": [poisson(24000, "0.3 mV"), {"constant": "120 pA"}], "init": {"V": "uniform(0 mV, 19 mV)"}},
            {"name": "I", "neurons": 11, "model": "lif", "params": {"tau": "12 ms", "refractory": 5, "rest": "-3 mV"}, "drive": [poisson(30000, "0.25 mV"), poisson(900, "-1.5 mV")]},
            {"name": "S", "neurons": 9, "model": "poisson", "params": {"rate": "700 Hz"}}],
        "projections": [
            {"from": "E", "to": "E", "rule": "fixed_indegree", "indegree": 9, "weight": "0.2 mV", "delay": "1.5 ms", "autapses": False},
            {"from": "E", "to": "I", "rule": "fixed_outdegree", "outdegree": 5, "weight": "0.35 mV", "delay": "0.7 ms"},
            {"from": "I", "to": "E", "rule": "all_to_all", "weight": "-0.4 mV", "delay": 2},
            {"from": "S", "to": "E", "rule": "fixed_total_number", "count": 90, "weight": "lognormal(0.4 mV, 0.2 mV)"}]}
    yield 150, {
        "name": "normal", "seed": 5, "timestep": "1 ms", "scale": 4096,
        "areas": [{"name": "A", "neurons": 30, "model": "izhikevich", "drive": [{"normal": {"mean": 1, "sd": 5}}, {"constant": 2.25}], "init": {"V": "normal(-65 mV, 3 mV)"}},
                  {"name": "B", "neurons": 10, "model": "izhikevich", "params": {"a": 0.1, "d": 2}, "drive": [{"normal": {"sd": 2}}]}],
        "projections": [{"from": "A", "to": "B", "rule": "pairwise_bernoulli", "p": 0.4, "weight": "uniform(0, 3)", "delay": "uniform(1 ms, 20 ms)"},
                        {"from": "B", "to": "A", "rule": "all_to_all", "weight": -1}]}
    yield 400, {
        "name": "own", "seed": 11, "timestep": "0.25 ms", "scale": 100, "models": [ADEX],
        "areas": [{"name": "A", "neurons": 24, "model": "adex", "drive": [poisson(4000, "600 pA")]}],
        "projections": [{"from": "A", "to": "A", "rule": "fixed_indegree", "indegree": 6, "weight": "150 pA", "delay": 3}]}
    yield 150, {
        "name": "draws", "seed": 3, "run_seed": 2**33 + 5, "timestep": "0.5 ms", "scale": 1000, "models": [NOISY],
        "areas": [{"name": "S", "neurons": 3, "model": "poisson", "params": {"rate": "300 Hz"}}, {"name": "A", "neurons": 30, "model": "noisy", "drive": [poisson(900, "1.5 mV")]}],
        "projections": [{"from": "S", "to": "A", "rule": "all_to_all", "weight": "2 mV"}, {"from": "A", "to": "A", "rule": "fixed_indegree", "indegree": 6, "weight": "1 mV", "delay": 3}]}
    yield 150, {
        "name": "weights", "seed": 99, "timestep": "0.1 ms", "scale": 1024,
        "areas": [{"name": "E", "neurons": 40, "model": "lif_psc_exp", "params": {"tau_syn_in": "5 ms"}, "drive": [poisson(16000, "90 pA"), {"constant": "200 pA"}], "init": {"V": "normal(-58 mV, 5 mV)"}}],
        "projections": [{"from": "E", "to": "E", "rule": "pairwise_bernoulli", "p": 0.15, "weight": "normal(80 pA, 20 pA)", "delay": "normal(1.5 ms, 0.3 ms) > 0.5 ms", "autapses": False},
                        {"from": "E", "to": "E", "rule": "fixed_indegree", "indegree": 4, "weight": "normal(-200 pA, 30 pA)", "delay": "0.8 ms"}]}

def main():
    out = []
    for bursts, g in genomes():
        network = Network(g)
        connectome = network.hash()
        digest, spikes, state = network.run(bursts)
        out.append({"genome": {"burst": "v1", "bursts": bursts, **g}, "digest": digest, "spikes": spikes, "state": state, "connectome": connectome})
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
