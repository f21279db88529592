"""What a genome can say, burst.Network can say: the same network, with the same hash, from YAML and from Python."""

import csv
import json
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import burst
from burst import _builder, _program

GENOMES = Path(__file__).parents[2] / "genomes"
SMALL = [
    "adex", "brette-coba", "c-elegans", "columns", "daspnet", "feagi-learning", "izhikevich-2003-custom", "poisson-lif",
    "quickstart", "receptors", "rhythm", "short-term", "stdp-song", "wave", "working-memory",
]  # fmt: skip

REST = r"""burst: v1
name: rest
seed: 5
scale: auto
areas:
  - {name: power, aliases: [on], neurons: 1, drive: {constant: 1}, devices: 1, position: [1, -2, 3], group: core}
  - name: eye
    size: [8, 4, 1]
    neurons_per_voxel: 2
    threshold: 0.5
    threshold_gradient: [0, 0.01, 0]
    threshold_limit: 20
    leak: 0.1
    refractory: 2
    excitability: 0.9
    fire_limit: 3
    snooze: 1
    accumulate: true
    rectify: true
    draw: philox
    init: {V: "uniform(0, 0.5)"}
    psp: 0.5
    divide_psp: true
  - {name: hot, size: [8, 4, 1], threshold: 2, psp_max: 50, leak_amount: 0.25, always_recover: true}
  - {name: code, neurons: 256, threshold: 0.1}
  - {name: kept, group: memory, neurons: 20, model: memory, upstream: [eye, hot], params: {temporal_depth: 2}}
  - {name: later, neurons: 3, model: poisson, params: {rate: 90 Hz}, from: 3, until: 40 ms, factor: {sine: {
      amplitude: 0.5, frequency: 8 Hz, phase: 90, offset: 1}}}
  - {name: up, neurons: 2, model: poisson, params: {rate: 90 Hz}, factor: {ramp: {at: [0, 30], values: [0, 2]}}}
  - {name: jump, neurons: 2, model: poisson, params: {rate: 90 Hz}, factor: {steps: {at: [0, 30], values: [1, 2]}}}
  - {name: read, neurons: 2, model: poisson, params: {rate: 90 Hz}, factor: {file: {
      path: cells.csv, column: V, every: 2}}}
  - {name: spots, neurons: 4, positions: spots.csv, drive: {constant: 0.5}}
  - {name: train, neurons: 3, model: spike_list, file: train.csv}
  - {name: list, neurons: 3, model: spike_list, spikes: [{neurons: [0, 2], at: [1 ms, 5]}]}
  - {name: L, size: [10, 10, 1], extent: [1 mm, 1 mm, 0 um], center: [0 um, 0 um, -200 um], periodic: true, model: lif,
     columns: {bias: "column(cells.csv, V)"}, init: {V: "column(cells.csv, V)"},
     params: {tau: "normal(20 ms, 2 ms) > 5 ms", threshold: "column(cells.csv, th)"},
     drive: [{constant: "column(cells.csv, I, nA)"}, {normal: {mean: 1 mV, sd: 2 mV}, from: 2, until: 30, factor: {
       pulse: {value: 2, base: 1, start: 3, width: 4, every: 10}}}, {poisson: {rate: 1 kHz, weight: 0.3 mV}, factor: {
       steps: {at: [0 ms, 20], values: [1, 0.5]}}}, {normal: {mean: 1 mV, sd: "column(cells.csv, I)"}},
       {poisson: {rate: "column(cells.csv, th, Hz)", weight: "column(cells.csv, I)"}}]}
  - {name: S, neurons: 50, model: lif_psc_exp, params: {tau_syn_ex: 1 ms}, drive: [{constant: 380 pA, factor: {ramp: {
      at: [0, 30], values: [0, 1]}}}, {to: {area: S, port: ex}, poisson: {rate: 1 kHz, weight: 5 pA}}]}
projections:
  - {from: power, to: eye, rule: all_to_all, weight: 1}
  - {from: eye, to: eye, rule: vectors, vectors: [[1, 0, 0]], weight: 2, merge: true, last_of_voxel: true}
  - {from: eye, to: eye, rule: patterns, patterns: [[["*", "?", 0], ["?", "!", 0]]], weight: -1, merge: true}
  - {from: eye, to: hot, rule: projector, axes: yxz, division: float32, weight: 1, attractivity: 75}
  - {from: eye, to: hot, rule: projector, from_end: x, weight: 1, first_of_voxel: true}
  - {from: eye, to: hot, rule: block_to_block, divide: [2, 1, 1], weight: 1}
  - from: eye
    to: hot
    rule: composite
    src_seed: [4, 4, 1]
    src_pattern: [[1, 1], [1, 0], [1, 0]]
    mapper: {rule: projector}
    weight: 0.1
  - {from: eye, to: hot, rule: composite, src_seed: [4, 4, 1], weight: 0.1, mapper: {rule: block_to_block,
     divide: [2, 1, 1]}}
  - {from: eye, to: hot, rule: composite, src_seed: [4, 4, 1], weight: 0.1, mapper: {rule: vectors,
     vectors: [[1, 0, 0]]}}
  - {from: eye, to: hot, rule: composite, src_seed: [4, 4, 1], weight: 0.1, mapper: {rule: patterns,
     patterns: [[["*", 0, 0], [1, "?", 0]]]}}
  - {from: eye, to: hot, rule: composite, src_seed: [4, 4, 1], weight: 0.1, mapper: {rule: projector, axes: yxz,
     from_end: x, division: exact}}
  - {from: hot, to: code, rule: expander, weight: 0.5}
  - {from: spots, to: spots, rule: distance, p: "exp(-d/(100 um))", weight: 0.25, merge: true}
  - {from: hot, to: hot, rule: randomizer, weight: 0.2}
  - {from: kept, to: hot, rule: fixed_total_number, count: 30, weight: 1, multapses: false}
  - {from: code, to: code, rule: pairwise_poisson, average: 0.01, weight: 0.1, autapses: false}
  - {from: list, to: L, rule: pairwise_bernoulli, p: 0.5, weight: 30 mV}
  - {from: L, to: L, rule: distance, p: "0.4*exp(-d/(150 um))", mask: "d < 300 um", symmetric: true, weight: 0.1 mV,
     delay: "1 ms + d/(0.05 m/s)"}
  - {from: L, to: L, rule: fixed_outdegree, outdegree: 5, kernel: "exp(-d/(80 um))", weight: "-1 mV*exp(-d/(100 um))"}
  - {from: train, to: {area: S, port: in}, rule: fixed_indegree, indegree: 2, weight: 20 pA, delay: "uniform(2, 9)"}
  - {file: table.csv}
  - {from: L, to: S, rule: edges, file: edges.csv, plasticity: {rule: rewarded, w_max: 300 pA, da: power}}
  - {from: L, to: S, rule: fixed_indegree, indegree: 2, weight: 5 pA, delay: 3, back: 1, plasticity: {
      rule: rewarded, bounds: [0 pA, 90 pA], overflow: refuse, da: power}}
plasticity:
  - name: rewarded
    params: {tau: 20 ms, step: 0.1 weight, w_max: 4 weight, period: 10 ms}
    constants: {keep: exp(-period/1000)}
    pre: {x: {tau: tau, add: 1}}
    post: {y: {tau: tau, set: 1}}
    synapse: {c: 0}
    modulators: {da: {tau: 200 ms, add: 0.5, delay: 1 ms}}
    bounds: [0, w_max]
    on_post: ["c = c + step*x"]
    on_pre: ["c = c - 1.5*step*y"]
    every: {bursts: period, do: ["w = w + (0.002 + da)*c", "c = keep*c"]}
stimuli:
  - {area: eye, at: 3, voxels: [[0, 0, 0], [1, 2, 0]], amount: 2}
  - {area: L, every: 5, from: 2, until: 30 ms, neurons: [0, 3], amount: 30 mV}
  - {to: {area: S, port: ex}, at: 7, neurons: all, amount: 500 pA}
  - {area: hot, at: 4, image: light.png}
record:
  spikes: [eye, L, S]
  potentials: [{area: L, neurons: [0, 1]}, {area: eye, voxels: [[1, 1, 0]]}]
  variables: [{area: S, names: [V, I_ex], neurons: [7], every: 10}, {area: L, names: [V], voxels: [[0, 0, 0]]}]
  fcl: false
  weights: {every: 10, synapses: [{from: L, to: S, share: 0.5},
    {from: L, to: S, sources: [0], targets: [1, 2]}]}
  histograms: true
"""

WHOLE = """burst: v1
name: whole
areas:
  - {name: a, neurons: 3, drive: {constant: 0.5}}
  - {name: b, neurons: 3}
projections:
  - {rule: edges, file: all.csv}
"""


def write_files(folder: Path) -> None:
    """Writes what REST names."""
    r = np.random.default_rng(5)

    def table(name: str, columns: dict[str, Any]) -> None:
        rows = zip(*columns.values(), strict=True)
        (folder / name).write_text("\n".join([",".join(columns), *(",".join(map(str, x)) for x in rows), ""]))

    table("train.csv", {"neuron": [0, 2, 1, 0], "burst": [1, 1, 4, 9]})
    table("cells.csv", {"V": r.random(100).round(3), "th": 20 + r.random(100).round(3), "I": r.random(100).round(3)})
    table("edges.csv", {"source": r.integers(0, 100, 60), "target": r.integers(0, 50, 60), "weight": [150.5] * 60,
                        "delay": [3] * 60, "port": [0] * 60})  # fmt: skip
    table("spots.csv", {axis: r.normal(0, 100, 4) for axis in "xyz"})
    table("all.csv", {"source": [0, 1], "target": [3, 4], "weight": [1, 0.5], "delay": [2, 1]})
    table(
        "table.csv",
        {
            "source": ["L", "later"],
            "target": ["S", "S"],
            "rule": ["fixed_indegree"] * 2,
            "indegree": [3, 2],
            "weight": ['"normal(2 pA, 1 pA) > 0 pA"', "5"],
            "delay_ms": [2, ""],
        },
    )
    rows = b"".join(b"\0" + bytes(r.integers(0, 256, 8, dtype=np.uint8)) for _ in range(4))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", 8, 4, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    made = b"".join(struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks)
    (folder / "light.png").write_bytes(b"\x89PNG\r\n\x1a\n" + made)


def read(path: Path) -> dict[str, list[str]]:
    """The columns of a CSV file."""
    with path.open(newline="") as f:
        names, *rows = csv.reader(f)
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def rebuild(genome: dict[str, Any], folder: Path) -> burst.Network:
    """The network of a genome, built by a program: with arrays where the genome names columns of files."""
    parts = {k: genome.pop(k) for k in ("areas", "projections", "stimuli", "record") if k in genome}
    genome.pop("burst")
    net = burst.Network(**genome)

    def arrays(value: Any) -> Any:
        """The array that stands for a column, alone or with its unit."""
        m = re.fullmatch(r"column\((\S+), (\w+)(?:, (\w+))?\)", value) if isinstance(value, str) else None
        if m is None:
            return value
        column = np.array([float(x) for x in read(folder / m[1])[m[2]]])
        return (column, m[3]) if m[3] else column

    for a in parts["areas"]:
        keys = {"from_" if k == "from" else k: v for k, v in a.items()}
        name, model = keys.pop("name"), keys.pop("model", "feagi")
        size = keys.pop("neurons") if "neurons" in keys else keys.pop("size")
        params = {k: arrays(v) for k, v in keys.pop("params", {}).items()}
        for named in {"init", "columns"} & keys.keys():
            keys[named] = {k: arrays(v) for k, v in keys[named].items()}
        drives = keys.get("drive", [])
        for d in drives if isinstance(drives, list) else [drives]:
            if "constant" in d:
                d["constant"] = arrays(d["constant"])
            for kind in {"poisson", "normal"} & d.keys():
                d[kind] = {k: arrays(v) for k, v in d[kind].items()}
        for d in [*(drives if isinstance(drives, list) else [drives]), keys]:
            if "file" in d.get("factor", {}):
                d["factor"]["file"]["path"] = net.file(folder / d["factor"]["file"]["path"])
        if "positions" in keys:
            places = read(folder / keys["positions"])
            keys["positions"] = np.array([[float(x) for x in places[axis]] for axis in "xyz"]).T
        if "file" in keys:
            trains = read(folder / keys.pop("file"))
            keys["spikes"] = tuple(np.array(trains[c], dtype=np.int64) for c in ("neuron", "burst"))
        own = {k for k in params if k in _builder._OF_AREA}
        assert not own, "names of parameters that are keys of areas go into params"
        net.area(name, size, model, **keys, **params)
    projections = parts.get("projections", [])
    for p in [projections] if isinstance(projections, dict) else projections:
        keys = dict(p)
        if "rule" not in keys:
            net.connect_table({k: [x or None for x in c] for k, c in read(folder / keys["file"]).items()})
            continue
        source, to, rule = keys.pop("from", None), keys.pop("to", None), keys.pop("rule")
        if isinstance(to, dict):
            to, keys["port"] = to["area"], to["port"]
        if keys.get("file") == "edges.csv":
            columns = {k: np.array([float(x) for x in c]) for k, c in read(folder / keys.pop("file")).items()}
            keys |= {k: columns[k].astype(np.int64) for k in ("delay", "port")} | {"weight": columns["weight"]}
            rule = tuple(columns[k].astype(np.uint32) for k in ("source", "target"))
        elif "file" in keys:
            keys["file"] = net.file(folder / keys["file"])
        net.connect(source, to, rule, **keys)
    for x in parts.get("stimuli", []):
        keys = {"from_" if k == "from" else k: v for k, v in x.items()}
        to = keys.pop("to", None) or {"area": keys.pop("area")}
        if "image" in keys:
            keys["image"] = net.file(folder / keys["image"])
        net.stimulate(to.pop("area"), **keys, **to)
    if "record" in parts:
        net.record(**parts["record"])
    return net


def parsed(text: str) -> dict[str, Any]:
    """A genome as a mapping. YAML 1.1 has other numbers and booleans than a genome, in no genome of these tests."""
    found: dict[str, Any] = yaml.load(text, yaml.CSafeLoader)
    return found


@pytest.mark.parametrize("name", [*SMALL, "rest", "whole"])
def test_same_network(name: str, tmp_path: Path) -> None:
    """Examples, and a network with what no example has."""
    folder = GENOMES
    if name in ("rest", "whole"):
        folder = tmp_path
        write_files(folder)
        (folder / f"{name}.yaml").write_text(REST if name == "rest" else WHOLE)
    text = (folder / f"{name}.yaml").read_text()
    options = {"threads": 1, "record": {"spikes": "none"}} if "record:" not in text else {"threads": 1}
    with burst.load(folder / f"{name}.yaml", **options) as want:
        net = rebuild(parsed(text), folder)
        net._options = burst.Options(**options)
        with net:
            assert net.run(40).digest == want.run(40).digest
            assert net.manifest["connectome"] == want.manifest["connectome"]
            assert len(want.areas) == len(net.areas)
            if name == "rest":
                assert len(want.recorded("variables")) == len(net.recorded("variables")) == 4 * 2 + 40
                assert np.array_equal(want.recorded("weights").weight, net.recorded("weights").weight)
                assert want.rates["kept"] > 0
                assert want.rates["S"] > 0


def keys_of(schema: Any, at: str = "") -> Iterator[str]:
    """The paths of all keys of a part of the schema."""
    for x in [schema, *schema.get("anyOf", [])]:
        if "items" in x:
            yield from keys_of(x["items"], at)
        for key, inner in x.get("properties", {}).items():
            yield f"{at}.{key}"
            yield from keys_of(inner, f"{at}.{key}")


def used(value: Any, at: str = "") -> Iterator[str]:
    """The paths of the keys that a value has."""
    if isinstance(value, list):
        for x in value:
            yield from used(x, at)
    elif isinstance(value, dict):
        for k, v in value.items():
            yield f"{at}.{k}"
            yield from used(v, f"{at}.{k}")


def test_all_keys() -> None:
    """The networks of the test above have all keys; models and plasticity are given on as they are."""
    schema = json.loads(_program.call("schema"))["properties"]
    have = {
        k for text in [*((GENOMES / f"{n}.yaml").read_text() for n in SMALL), REST, WHOLE] for k in used(parsed(text))
    }
    for part in ("areas", "projections", "stimuli", "record"):
        want = set(keys_of(schema[part], f".{part}"))
        missing = {k for k in want - have if not k.startswith((".areas.params.", ".areas.init."))}
        assert not missing, sorted(missing)
    in_area = set(schema["areas"]["items"]["properties"]) - {"name", "model", "params", "neurons", "size"}
    feagi = {k for k in in_area if schema["areas"]["items"]["properties"][k]["description"].endswith("; feagi")}
    assert in_area - feagi <= _builder._OF_AREA
