"""The neuron models that models.py compares with NEST: parameters, the range that each is drawn from, NEST's names."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

Params = dict[str, float]
Draw = Callable[[Random, Params], float]  # may look at the parameters before it

NAMES = {"C": "C_m", "tau": "tau_m", "rest": "E_L", "reset": "V_reset", "threshold": "V_th", "refractory": "t_ref"}
NAMES |= {"peak": "V_peak", "slope": "Delta_T"}


def uniform(low: float, high: float, of: str = "") -> Draw:
    """A number between low and high, above the parameter of when one is named."""
    return lambda r, p: round(p.get(of, 0) + r.uniform(low, high), 3)


def spread(low: float, high: float) -> Draw:
    """A number whose logarithm is uniform."""
    return lambda r, p: round(math.exp(r.uniform(math.log(low), math.log(high))), 3)


def between(below: float, above: float) -> Draw:
    """A reset: from `below` under rest to `above` under the threshold."""
    return lambda r, p: round(r.uniform(p["rest"] - below, p["threshold"] - above), 3)


def either(*draws: Draw) -> Draw:
    """One of the draws."""
    return lambda r, p: r.choice(draws)(r, p)


def of(formula: Callable[[Params], float]) -> Draw:
    """What follows from the parameters before it."""
    return lambda r, p: formula(p)


def silence(*ms: float) -> dict[str, tuple[str, Draw]]:
    """A refractory time."""
    return {"refractory": ("ms", lambda r, p: r.choice(ms))}


ANY = silence(0.0, 0.4, 1.0, 2.0, 3.2, 5.0)
SOME = silence(0.4, 1.0, 2.0, 3.2, 5.0)
MEMBRANE = {"C": ("pF", spread(40, 600)), "tau": ("ms", spread(3, 40)), "rest": ("mV", uniform(-80, -55))}
FIRING = {"threshold": ("mV", uniform(8, 25, "rest")), "reset": ("mV", between(10, 2))}
LEAKY = MEMBRANE | FIRING | ANY
CURRENTS = LEAKY | {
    "tau_syn_ex": ("ms", either(spread(0.3, 15), of(lambda p: p["tau"]), of(lambda p: 1.001 * p["tau"]))),
    "tau_syn_in": ("ms", either(spread(0.5, 25), of(lambda p: p["tau"]))),
}
REVERSAL = {
    "E_ex": ("mV", uniform(-20, 20)),
    "E_in": ("mV", either(of(lambda p: p["rest"]), uniform(-0.5, -0.5, "rest"), uniform(-100, -70))),
}
SYNAPSES = {"tau_syn_ex": ("ms", spread(0.2, 12)), "tau_syn_in": ("ms", spread(0.5, 25))}
LEAK = {"C": ("pF", spread(40, 600)), "g_L": ("nS", spread(4, 40)), "rest": ("mV", uniform(-80, -60))}
CONDUCTANCES = LEAK | FIRING | ANY | REVERSAL | SYNAPSES
ADAPTIVE = {
    **LEAK,
    "slope": ("mV", spread(0.5, 5)),
    "threshold": ("mV", uniform(10, 22, "rest")),
    "peak": ("mV", lambda r, p: round(p["threshold"] + max(8 * p["slope"], r.uniform(15, 50)), 3)),
    "reset": ("mV", between(8, 1)),
    "a": ("nS", either(of(lambda p: 0.0), uniform(-2, 12))),
    "b": ("pA", either(of(lambda p: 0.0), spread(2, 150))),
    "tau_w": ("ms", spread(15, 400)),
    **ANY,
    **SYNAPSES,
}
TRAUB = {
    "C": ("pF", spread(100, 400)),
    "g_L": ("nS", spread(5, 20)),
    "g_Na": ("nS", spread(12000, 30000)),
    "g_K": ("nS", spread(4000, 9000)),
    "rest": ("mV", uniform(-70, -55)),
    "E_Na": ("mV", uniform(40, 60)),
    "E_K": ("mV", uniform(-100, -80)),
    "V_T": ("mV", uniform(-66, -55)),
    "E_ex": ("mV", uniform(-10, 10)),
    "E_in": ("mV", uniform(-90, -70)),
    "tau_syn_ex": ("ms", spread(1, 10)),
    "tau_syn_in": ("ms", spread(2, 20)),
    **silence(1.0, 2.0, 3.0),
}
MAT2 = {
    **MEMBRANE,
    "omega": ("mV", uniform(8, 25, "rest")),
    "alpha_1": ("mV", uniform(5, 60)),
    "alpha_2": ("mV", uniform(0.5, 8)),
    "tau_1": ("ms", spread(4, 40)),
    "tau_2": ("ms", spread(80, 500)),
    **silence(1.0, 2.0, 3.2, 5.0),
    **SYNAPSES,
}
GIF = {
    "C": ("pF", spread(40, 300)),
    "g_L": ("nS", spread(2, 15)),
    "rest": ("mV", uniform(-75, -60)),
    "V_T_star": ("mV", uniform(-50, -38)),
    "Delta_V": ("mV", of(lambda p: 0.005)),  # so small that chance hardly matters
    "lambda_0": ("Hz", uniform(0.5, 20)),
    "reset": ("mV", uniform(-70, -52)),
    **SOME,
    "tau_syn_ex": ("ms", either(spread(0.4, 10), of(lambda p: p["C"] / p["g_L"]))),
    "tau_syn_in": ("ms", spread(0.5, 15)),
}
for k in "12":
    GIF |= {f"q_stc_{k}": ("pA", uniform(-10, 60)), f"tau_stc_{k}": ("ms", spread(5, 300))}
    GIF |= {f"q_sfa_{k}": ("mV", uniform(0.5, 15)), f"tau_sfa_{k}": ("ms", spread(5, 500))}
GLIF = {
    "C": ("pF", spread(30, 200)),
    "g": ("nS", spread(3, 20)),
    "rest": ("mV", uniform(-85, -65)),
    "threshold": ("mV", uniform(12, 30, "rest")),
    "tau_syn": ("ms", either(spread(0.5, 10), of(lambda p: p["C"] / p["g"]))),
    **SOME,
}
GLIF_1 = GLIF | {"reset": ("mV", between(5, 5))}
GLIF_2 = GLIF | {
    "th_spike_add": ("mV", uniform(0.1, 5)),
    "th_spike_decay": ("", spread(0.002, 0.1)),
    "voltage_reset_fraction": ("", uniform(0.05, 0.5)),
    "voltage_reset_add": ("mV", uniform(-3, 8)),
}
GLIF_3 = dict(GLIF_1)
for k in "12":
    GLIF_3 |= {f"asc_amp_{k}": ("pA", uniform(-150, 20)), f"asc_decay_{k}": ("", spread(0.002, 0.2))}
    GLIF_3 |= {f"asc_r_{k}": ("", uniform(0.2, 1))}
QUADRATIC = {
    "a": ("", spread(0.01, 0.15)),
    "b": ("", uniform(0.1, 0.27)),
    "c": ("mV", uniform(-68, -50)),
    "d": ("", uniform(0.5, 10)),
    "threshold": ("mV", uniform(25, 40)),
}


def traub_gates(p: Params) -> dict[str, float]:
    """The gates of hh_cond_exp at rest; NEST's start from other values."""
    v = p["rest"] - p["V_T"]
    rates = {
        "Act_m": (0.32 * (13 - v) / math.expm1((13 - v) / 4), 0.28 * (v - 40) / math.expm1((v - 40) / 5)),
        "Inact_h": (0.128 * math.exp((17 - v) / 18), 4 / (1 + math.exp((40 - v) / 5))),
        "Act_n": (0.032 * (15 - v) / math.expm1((15 - v) / 5), 0.5 * math.exp((10 - v) / 40)),
    }
    return {gate: opens / (opens + closes) for gate, (opens, closes) in rates.items()}


@dataclass(frozen=True)
class Model:
    """A model of burst and the one of NEST that it is compared with."""

    nest: str
    unit: str  # of weights
    ranges: dict[str, tuple[str, Draw]]  # unit and draw of each parameter
    rheobase: Callable[[Params], float]  # about the current from which it fires
    size: Callable[[Params], float]  # what weights are multiples of
    fixed: Callable[[Params], dict[str, Any]] = field(default=lambda p: {})  # NEST's parameters beside these
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)  # parameters that are one list in NEST
    start: tuple[float, float] = (-6, 7)  # where V starts in trains, mV from rest
    held: float = 0  # the current while peaks are looked at
    lag: int = 0  # bursts that NEST takes longer from the start of a current to V


def pairs(**names: str) -> dict[str, tuple[str, ...]]:
    """NEST's lists of what burst has as two parameters."""
    return {theirs: (f"{ours}_1", f"{ours}_2") for theirs, ours in names.items()}


def one(p: Params) -> float:
    """Weights do not depend on parameters."""
    return 1.0


def leaky(p: Params) -> float:
    """The rheobase of a neuron with a time constant."""
    return p["C"] / p["tau"] * (p.get("threshold", p.get("omega", 0)) - p["rest"])


def leak(p: Params) -> float:
    """The rheobase of a neuron with a leak."""
    return p.get("g_L", p.get("g", 0)) * (p.get("threshold", p.get("V_T_star", 0)) - p["rest"])


def upswing(p: Params) -> float:
    """The rheobase of an adaptive exponential neuron."""
    return max((p["g_L"] + max(p["a"], 0)) * (p["threshold"] - p["rest"]) - p["g_L"] * p["slope"], 0)


def open_leak(p: Params) -> float:
    """The conductance of the leak."""
    return p["g_L"]


def glif(ranges: dict[str, tuple[str, Draw]], fixed: Callable[[Params], dict[str, Any]], **lists: str) -> Model:
    """One of the models that NEST has as glif_psc; without a constant current, so that a generator gives it."""
    one_port: dict[str, tuple[str, ...]] = {"tau_syn": ("tau_syn",)}
    return Model("glif_psc", "pA", ranges, leak, leak, fixed, one_port | pairs(**lists), (0, 0), lag=2)


GIF_LISTS = pairs(q_stc="q_stc", tau_stc="tau_stc", q_sfa="q_sfa", tau_sfa="tau_sfa")
MODELS = {
    "lif_psc_delta": Model("iaf_psc_delta", "mV", LEAKY, leaky, one),
    "lif": Model("iaf_psc_delta", "mV", LEAKY, leaky, one),
    "lif_psc_exp": Model("iaf_psc_exp", "pA", CURRENTS, leaky, leaky),
    "lif_psc_exp_event": Model("iaf_psc_exp", "pA", CURRENTS, leaky, leaky),
    "lif_psc_alpha": Model("iaf_psc_alpha", "pA", CURRENTS, leaky, leaky),
    "lif_cond_exp": Model("iaf_cond_exp", "nS", CONDUCTANCES, leak, open_leak),
    "lif_cond_alpha": Model("iaf_cond_alpha", "nS", CONDUCTANCES, leak, open_leak),
    "adex": Model("aeif_psc_exp", "pA", ADAPTIVE, upswing, upswing),
    "adex_psc_alpha": Model("aeif_psc_alpha", "pA", ADAPTIVE, upswing, upswing),
    "adex_cond_exp": Model("aeif_cond_exp", "nS", ADAPTIVE | REVERSAL, upswing, open_leak),
    "adex_cond_alpha": Model("aeif_cond_alpha", "nS", ADAPTIVE | REVERSAL, upswing, open_leak),
    "hh_cond_exp": Model(
        "hh_cond_exp_traub", "nS", TRAUB, lambda p: 150, lambda p: 0.2 * p["g_L"], traub_gates, start=(0, 0), held=-100
    ),
    "mat2_psc_exp": Model("mat2_psc_exp", "pA", MAT2, leaky, leaky),
    "gif": Model("gif_psc_exp", "pA", GIF, leak, leak, lists=GIF_LISTS),
    "glif_1": glif(GLIF_1, lambda p: {}),
    "glif_2": glif(GLIF_2, lambda p: {"spike_dependent_threshold": True, "V_reset": p["rest"]}),
    "glif_3": glif(
        GLIF_3,
        lambda p: {"after_spike_currents": True, "asc_init": [0.0, 0.0]},
        asc_amps="asc_amp",
        asc_decay="asc_decay",
        asc_r="asc_r",
    ),
    "izhikevich": Model("izhikevich", "", QUADRATIC, lambda p: 4.5, one, lambda p: {"consistent_integration": False}),
}
