"""Networks: built, loaded, run, fed and read."""

import gc
import json
import os
import shutil
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import burst
from burst import _arrow, _program, _table, errors
from burst._units import bursts


def test_loads_what_the_command_line_runs(tmp_path: Path, loop: str) -> None:
    """A file, a text, a mapping, an example and FEAGI's JSON come to the digest of `burst run`."""
    (tmp_path / "loop.yaml").write_text(loop)
    want = json.loads(_program.call("run", str(tmp_path / "loop.yaml"), "--bursts", "300", "--no-out", "--json"))[
        "digest"
    ]
    for source in (tmp_path / "loop.yaml", str(tmp_path / "loop.yaml"), loop):
        with burst.load(source) as net:
            assert net.run("300 ms").digest == want
            assert net.burst == 300
    assert burst.load("quickstart", threads=1).run("240 ms").digest == "130bd7d62696b90a"
    genome = {"burst": "v1", "name": "two", "areas": [{"name": "a", "neurons": 3, "drive": {"constant": 0.4}}]}
    with burst.load(genome, set={"areas.a.neurons": 4}) as net:
        assert net.areas["a"] == burst.Area("a", 4, "feagi", 0, (4, 1, 1))
    feagi = Path(__file__).parents[2] / "genome/feagi/testdata"
    one = next(p for p in sorted(feagi.rglob("*.json")) if '"blueprint"' in p.read_text())
    for source in (one, json.loads(one.read_text())):
        with burst.load(source) as net:
            assert net.areas


def test_builds(tmp_path: Path) -> None:
    """Arrays as columns, edge list and spike trains make the network of the same text, which replays elsewhere."""
    tau = np.linspace(15, 25, 80)
    source, target = np.arange(5).repeat(3), np.arange(15) * 5
    net = burst.Network("b", timestep="0.1 ms", seed=3, out=tmp_path / "run", threads=1)
    e = net.area("E", 80, "lif", tau=tau, drive={"poisson": {"rate": "9 kHz", "weight": "0.3 mV"}})
    i = net.area("I", 20, "lif", tau=[20.0] * 20, refractory="2 ms")
    s = net.area("S", 5, "spike_list", spikes=(np.array([4, 0, 0]), np.array([5, 9, 3])))
    net.connect(e, i, "pairwise_bernoulli", p=0.1, weight="5 mV", delay="1.5 ms", autapses=False)
    net.connect(e, e, "pairwise_bernoulli", p=0.1, weight="0.1 mV", delay="1.5 ms", plasticity="stdp")
    net.connect(s, e, (source, target), weight=np.linspace(20, 30, 15).tolist(), delay=np.arange(15) % 7 + 1)
    assert net.stimulate(i, at="0.7 ms", neurons=[3], amount="100 mV") == 0
    net.run("100 ms")
    with pytest.raises(errors.UsageError, match="structure is fixed"):
        net.area("more", 1)
    assert net.spikes["S"].burst.tolist() == [3, 5, 9]
    assert net.spikes["S"].neuron.tolist() == [0, 4, 0]
    assert net.spikes["S"]["S"].neuron.tolist() == [0, 4, 0]
    assert len(net.spikes["S"]["E"]) == len(net.spikes["E"]["S"]) == 0 < len(net.spikes["E"])
    net.close()

    trains = "[{neurons: [0], at: [3, 9]}, {neurons: [4], at: [5]}]"
    rows = zip(source, target, np.linspace(20, 30, 15), np.arange(15) % 7 + 1, strict=True)
    (tmp_path / "tau.csv").write_text("x\n" + "".join(f"{float(x)!r}\n" for x in tau))
    (tmp_path / "list.csv").write_text(
        "source,target,weight,delay\n" + "".join(f"{a},{b},{float(w)!r},{d}\n" for a, b, w, d in rows)
    )
    (tmp_path / "same.yaml").write_text(f"""
burst: v1
name: b
timestep: 0.1 ms
seed: 3
areas:
  - name: E
    neurons: 80
    model: lif
    params: {{tau: "column(tau.csv, x)"}}
    drive: {{poisson: {{rate: 9 kHz, weight: 0.3 mV}}}}
  - {{name: I, neurons: 20, model: lif, params: {{tau: 20 ms, refractory: 20}}}}
  - {{name: S, neurons: 5, model: spike_list, spikes: {trains}}}
projections:
  - {{from: E, to: I, rule: pairwise_bernoulli, p: 0.1, weight: 5 mV, delay: 1.5 ms, autapses: false}}
  - {{from: E, to: E, rule: pairwise_bernoulli, p: 0.1, weight: 0.1 mV, delay: 1.5 ms, plasticity: stdp}}
  - {{from: S, to: E, rule: edges, file: list.csv}}
stimuli: [{{area: I, at: 7, neurons: [3], amount: 100 mV}}]
""")
    with burst.load(tmp_path / "same.yaml") as same:
        assert same.run(1000).digest == net.digest
        assert same.manifest["connectome"] == net.manifest["connectome"]
    digest = net.digest
    del net, same  # and with them all files that were made for them
    gc.collect()
    shutil.move(tmp_path / "run", tmp_path / "moved")
    assert burst.open(tmp_path / "moved").replay() == digest


def test_arrow() -> None:
    """What is written without pyarrow is what pyarrow writes."""
    for rows in (0, 1, 3, 1000):
        for kinds in (["<u4", "<i8", "<f4", "<f8"], ["u1", "<i2", "<u2", "<u8", "i1", ">i4"], ["<u4"]):
            columns = {f"c{k}" * (k + 1): (np.arange(rows) % 100).astype(kind) for k, kind in enumerate(kinds)}
            table = pa.ipc.open_stream(_arrow.stream(columns)).read_all()
            table.validate(full=True)
            assert table == pa.table({n: c.astype(c.dtype.newbyteorder("=")) for n, c in columns.items()})


def test_takes_tables(tmp_path: Path) -> None:
    """Tables of pyarrow and pandas make the network of the same arrays, which replays without them."""
    r = np.random.default_rng(3)
    at = r.choice(100 * 50, 1000, replace=False)
    train = {"neuron": at % 100, "burst": at // 100}
    edges = {"source": r.integers(0, 100, 500), "target": r.integers(0, 20, 500), "weight": 1 + r.random(500)}
    made: list[tuple[str, Any]] = []
    for spikes, rule, more in (
        ((train["neuron"], train["burst"]), (edges["source"], edges["target"]), {"weight": edges["weight"]}),
        (pa.table(train), pd.DataFrame(edges), {}),
        (pd.DataFrame(train), pa.table(edges), {}),
    ):
        net = burst.Network("tables", out=tmp_path / f"{len(made)}", threads=1)
        s = net.area("projection-0", 100, "spike_list", spikes=spikes)
        net.connect(s, net.area("cell", 20, "lif"), rule, delay=2, **more)
        net.run(60).close()
        assert len(net.spikes["projection-0"]) == 1000
        assert len(net.spikes["cell"]) > 0
        made.append((net.digest, net.manifest["connectome"]))
    assert made[0] == made[1] == made[2]
    assert burst.open(tmp_path / "1").replay() == made[0][0]
    net = burst.Network(out=False)
    net.area("s", 3, "spike_list", spikes=pa.table({"neuron": [3], "burst": [5]}))
    with pytest.raises(errors.GenomeError, match=r"row 1, column neuron: neuron 3, want 0…2 of s"):
        net.start()


def test_starts_of_synapses(tmp_path: Path) -> None:
    """What variables of synapses start from may be an array beside an edge list: the columns of a list."""
    r = np.random.default_rng(5)
    source, target, shares = r.integers(0, 50, 400), r.integers(0, 5, 400), r.random(400)
    net = burst.Network(out=tmp_path / "made", threads=1)
    e = net.area("E", 50, "poisson", rate="50 Hz")
    cell = net.area("cell", 5, "lif")
    keys = {"rule": "tsodyks_markram_per_synapse", "w_max": "9 mV", "tau_rec": "200 ms"}
    net.connect(e, cell, (source, target), weight=np.full(400, 4.0), plasticity={**keys, "U": shares})
    net.run(500).close()
    (tmp_path / "list.csv").write_text(
        "source,target,weight,U\n" + "".join(f"{s},{t},4,{u}\n" for s, t, u in zip(source, target, shares, strict=True))
    )
    (tmp_path / "same.yaml").write_text("""burst: v1
areas:
  - {name: E, neurons: 50, model: poisson, params: {rate: 50 Hz}}
  - {name: cell, neurons: 5, model: lif}
projections:
  - from: E
    to: cell
    rule: edges
    file: list.csv
    plasticity: {rule: tsodyks_markram_per_synapse, w_max: 9 mV, tau_rec: 200 ms, U: "column(list.csv, U)"}
""")
    with burst.load(tmp_path / "same.yaml") as same:
        assert same.run(500).digest == net.digest
        assert same.manifest["connectome"] == net.manifest["connectome"]


def test_tables_of_projections(tmp_path: Path) -> None:
    """A table of projections counts for the numbers of those after it, as a mapping and as one of pandas."""
    rows = {"source": ["a", "b"], "target": ["b", "a"], "rule": ["all_to_all"] * 2, "weight": [0.25, np.float32(0.5)],
            "delay": [None, 3]}  # fmt: skip
    made = []
    for table in (rows, pd.DataFrame(rows)):
        net = burst.Network("t", threads=1)
        a, b = net.area("a", 3, drive={"constant": 0.3}), net.area("b", 2)
        assert net.connect(a, b, "all_to_all", weight=1) == 0
        assert net.connect_table(table) == range(1, 3)
        assert net.connect(a, a, "all_to_all", weight=0.1, plasticity={"rule": "stdp", "w_max": 1}) == 3
        with net:
            assert len(net.run(20).weights(3)) == 9
            made.append((net.digest, net.manifest["connectome"]))
    assert made[0] == made[1]
    net = burst.Network()
    net.area("a", 3)
    (tmp_path / "x").mkdir()
    for folder in (tmp_path, tmp_path / "x"):
        (folder / "one.csv").write_text("source,target\n0,1\n")
    assert net.file(tmp_path / "one.csv") == net.file(tmp_path / "one.csv") == "one.csv"
    with pytest.raises(errors.UsageError, match=r"another file one\.csv"):
        net.file(tmp_path / "x" / "one.csv")
    with pytest.raises(errors.FileError, match="no such file"):
        net.file(tmp_path / "two.csv")
    with pytest.raises(errors.UsageError, match=r"columns of \[1, 2\] rows"):
        net.connect_table({"source": ["a"], "target": ["a", "a"]})


def test_many_projections() -> None:
    """64,009 projections are no more than a genome's text may hold."""
    net = burst.Network("many", out=False, threads=1)
    areas = [net.area(f"area-{k}", 1, "lif") for k in range(253)]
    for a in areas:
        for b in areas:
            last = net.connect(a, b, "one_to_one", weight="0.1 mV", delay="2 ms")
    assert len(net.run(1).areas) == 253
    assert last == 64_008
    net.close()


def test_builder_refuses() -> None:
    """What cannot be is refused before anything is started."""
    net = burst.Network()
    net.area("a", 3)
    refused: dict[str, Callable[[], object]] = {
        "there already": lambda: net.area("a", 3),
        r"a size of \[3, 2\], want whole numbers": lambda: net.area("b", [3, 2]),
        r"shape \(2,\), want \(3,\)": lambda: net.area("c", 3, "lif", tau=np.ones(2)),
        "a rule of dict, want a rule's name": lambda: net.connect("a", "a", {"rule": "fixed_indegree", "indegree": 1}),
        "dtype bool": lambda: net.area("d", 3, "lif", tau=np.ones(3, dtype=bool)),
        r"target has shape \(1,\)": lambda: net.connect("a", "a", ([0, 1], [1])),
        "float64 and int64, want whole numbers": lambda: net.area(
            "e", 3, "spike_list", spikes=(np.array([0.5]), np.array([1]))
        ),
    }
    for message, call in refused.items():
        with pytest.raises(errors.UsageError, match=message):
            call()


def test_steps(loop: str) -> None:
    """Outputs add up to the recorded spikes, inputs are held, and pieces come to the digest of the whole."""
    with burst.load(loop) as net, burst.load(loop) as whole:
        eye, crowd = net.input("eye", largest=2), net.output("crowd")
        fired = net.output("leg", "fired")
        rate = net.output("crowd", "rate", neurons=range(100))
        voxel = net.output("eye", "counts", voxels=[(1, 2, 0), (0, 0, 0)])
        assert (eye.entries, crowd.entries, voxel.entries) == (12, 200, 2)
        x = np.linspace(0, 2, 12)
        counts = np.zeros(200, dtype=np.int64)
        legs: set[int] = set()
        for k in range(10):
            out = net.step(7, {eye: x} if k == 0 else None)
            counts += out[crowd]
            legs |= set(out[fired].tolist())
            assert out[rate].dtype == np.float32
            assert out[rate][0] == pytest.approx(out[crowd][:100].sum() / 100 / 0.007)
            assert out[voxel].shape == (2,)
        assert not out[crowd].flags.writeable
        spikes = net.spikes
        assert np.bincount(spikes["crowd"].neuron, minlength=200).tolist() == counts.tolist()
        assert set(spikes["leg"].neuron) == legs
        assert len(legs) > 0
        whole.run(70, {whole.input("eye", largest=2): x})
        assert whole.digest == net.digest
        net.step(1, {eye: ([2, 5], [1.5, 1.5])})
        with pytest.raises(errors.RefusedError, match="at most the 2 of either sign"):
            net.step(1, {eye: np.full(12, 2.5)})
        with pytest.raises(errors.UsageError, match=r"shape \(11,\), want \(12,\)"):
            net.step(1, {eye: np.ones(11)})
        with pytest.raises(errors.UsageError, match=r"shape \(4, 3\), want \(12,\), as ravel"):
            net.step(1, {eye: np.ones((4, 3))})
        with pytest.raises(errors.UsageError, match="no input of this network"):
            whole.step(1, {eye: x})
        with pytest.raises(errors.UsageError, match="kind 'spikes'"):
            net.output("leg", "spikes")  # type: ignore[arg-type]
        assert net.burst == 71


def test_series(tmp_path: Path, loop: str) -> None:
    """Inputs and outputs of each burst in one call are those of a step for each, and replay."""
    with burst.load(loop, record={"potentials": "leg"}) as net, burst.load(loop) as same:
        eye, other = net.input("eye", largest=2), net.input("crowd", neurons=[5], largest=1)
        leg, rate, v = net.output("leg"), net.output("crowd", "rate"), net.output("leg", "potentials")
        fired = net.output("leg", "fired")
        eye_2, other_2 = same.input("eye", largest=2), same.input("crowd", neurons=[5], largest=1)
        leg_2 = same.output("leg")
        x = np.random.default_rng(3).random((200, 12)) * 2
        told = net.run("200 ms", {eye: x, other: ([0], [0.5])}, outputs=[v, leg, rate])
        counts = [same.step(1, {eye_2: row, **({other_2: [0.5]} if k == 0 else {})})[leg_2] for k, row in enumerate(x)]
        assert net.digest == same.digest
        assert told[leg].shape == told[v].shape == (200, 5)
        assert told[rate].shape == (200, 1)
        assert told[leg].dtype == np.uint32
        assert told[v].dtype == np.float32
        assert np.array_equal(told[leg], counts)
        assert told[leg].sum() > 0
        assert np.array_equal(net.potentials("leg"), told[v][-1])
        assert net.run(200, {eye: x}).step(1)[leg].max() <= 1, "of the last burst alone"
        want = same.run(200, {eye_2: x}).run(1).digest
        assert net.digest == want
        refused: dict[str, Callable[[], object]] = {
            r"series of shape \(200, 12\), want \(100, 12\)": lambda: net.run(100, {eye: x}),
            "want an output of this network, of counts": lambda: net.run(3, outputs=[fired]),
            "no input of this network": lambda: net.run(200, {eye_2: x}),
            "want an output of this network": lambda: net.run(3, outputs=[leg_2]),
        }
        for message, call in refused.items():
            with pytest.raises(errors.UsageError, match=message):
                call()
        net._piece = 4  # so that it is one step
        with pytest.raises(errors.RefusedError, match=r"burst 1 of the step: .* at most the 2 of either sign"):
            net.run(3, {eye: [[0.0] * 12, [3.0] * 12, [0.0] * 12]})
        assert net.digest == want
        assert net.save(tmp_path / "kept").replay() == want


def test_progress(loop: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A line says how far a long run is, and goes away; where nobody looks there is none."""
    from burst import _progress

    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)  # of another test
    monkeypatch.setattr(_progress, "_FIRST", 0.0)
    monkeypatch.setattr(_progress, "_EACH", 0.0)
    with burst.load(loop, out=False) as net:
        net.run(10)
        assert capsys.readouterr().err == ""
    with burst.load(loop, out=False, progress=True) as net:
        net.run(10)
    lines = capsys.readouterr().err.split("\r")
    assert lines[1].startswith(" 10%  1 of 10 bursts, ")
    assert lines[-2].strip() == lines[-1] == ""


def test_large_frames(loop: str) -> None:
    """Frames that do not come in one piece."""
    genome = {"burst": "v1", "areas": [{"name": "a", "neurons": 300_000, "threshold": 1}]}
    with burst.load(genome, out=False) as net:
        a, out = net.input("a", largest=2), net.output("a")
        x = np.zeros(300_000)
        x[::3] = 2
        for _ in range(3):
            assert np.array_equal(net.step(1, {a: x})[out], x / 2)


def test_goes_back(loop: str) -> None:
    """States and resets are segments of one run, which replays."""
    with burst.load(loop) as net:
        net.run(50)
        state = net.state()
        assert state.burst == 50
        at = net.run(30).digest
        net.restore(state)
        assert net.run(30).digest != at
        net.reset()
        net.switch(0, False)
        net.run(30)
        other = burst.load(loop)
        with pytest.raises(errors.UsageError, match="another network"):
            other.restore(state)
        del other
        for _ in range(20):  # those that nobody holds make room
            net.state()
        held = [net.state() for _ in range(7)]
        with pytest.raises(errors.RefusedError, match="8 states are kept"):
            net.state()
        del held
        digest, folder = net.digest, net.folder
        net.close()
        assert burst.open(folder).replay() == digest


def test_goes_on(tmp_path: Path, loop: str) -> None:
    """A run that was closed goes on in its folder as if it had not been."""
    with burst.load(loop) as whole:
        want = whole.run(90).digest
    with burst.load(loop, out=tmp_path / "run") as net:
        half = net.run(50).digest
    with burst.load(tmp_path / "run") as net:
        assert (net.burst, net.digest) == (50, half)
        assert net.run(40).digest == want
    assert burst.open(tmp_path / "run").replay() == want


def test_sets(loop: str) -> None:
    """Drives and stimuli change from a burst on, the run replays, and anything else is refused by name."""
    with burst.load(loop) as net:
        before = net.run(200).rates["crowd"]
        net.set({"areas.crowd.drive.poisson.rate": "600 Hz"})
        assert net.run(200).rates["crowd"] > 1.2 * before
        with pytest.raises(errors.RefusedError, match=r"areas\.crowd\.threshold"):
            net.set({"areas.crowd.threshold": 2})
        assert net.save(net.folder.parent / "kept").replay() == net.digest
    net = burst.Network("built")
    drive = {"poisson": {"rate": "9 kHz", "weight": "0.3 mV"}}
    e = net.area("E", 80, "lif", tau=np.linspace(15, 25, 80), drive=drive)
    with net:
        assert net.run(100).rates["E"] > 100
        drive["poisson"]["rate"] = "10 Hz"  # is of no account any more
        net.set({"areas.E.drive.poisson.rate": "1 Hz"})
        before = len(net.run(10).spikes)
        assert len(net.run(100).spikes[e]) == before
        assert net.save(net.folder.parent / "kept").replay() == net.digest


def test_present_state(loop: str) -> None:
    """Weights and potentials are those of the present burst."""
    with burst.load(loop, record={"potentials": "leg"}) as net:
        first = net.weights(1)
        assert len(first) == 100
        assert np.all(np.diff(first["source"]) >= 0)
        assert set(first["target"].tolist()) == set(range(212, 217))
        assert np.all(first["weight"] == np.float32(0.4))
        assert np.all(first["delay"] == 1)
        out, same = net.output("leg", "potentials"), net.output("leg", "potentials", variable="V")
        with pytest.raises(errors.BurstError, match="want a state variable"):
            net.output("leg", "potentials", variable="W")
        seen = []
        for _ in range(30):
            told = net.step(10)
            potentials = told[out]
            assert np.array_equal(told[same], potentials)
            assert np.array_equal(net.potentials("leg"), potentials)
            seen.append(net.weights(1)["weight"].sum())
        assert len(set(seen)) > 10
        with pytest.raises(errors.RefusedError, match="do not change"):
            net.weights(0)


def test_another_run_seed(loop: str) -> None:
    """A reset with a run seed is a new run, with what was bound."""
    with burst.load(loop, run_seed=5) as net, burst.load(loop, run_seed=6) as other:
        leg = net.output("leg")
        first = net.run(100).digest
        net.reset(run_seed=6)
        assert net.burst == 0
        assert net.step(100)[leg].shape == (5,)
        assert net.digest == other.run(100).digest
        net.reset(run_seed=5)
        assert net.run(100).digest == first


def test_view(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's addresses are those of the network, and no argument of a browser has the token."""
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(os, "environ", {k: v for k, v in os.environ.items() if "DISPLAY" not in k})
    with burst.load(loop) as net:
        page = net.view()
        assert opened == []
        assert net.view(browser=True) == page
        monkeypatch.setenv("DISPLAY", ":0")
        act = net.view(control=True)
        assert net.view(browser=False) == page != act
        assert len(opened) == 2
        path = Path(unquote(urlsplit(opened[1]).path))
        assert act in path.read_text()
        assert path.stat().st_mode & 0o77 == 0
        for address, scope in (page, "view"), (act, "control"):
            at, token = address.split("/#token=")
            assert b'src="page/main.js"' in urlopen(at).read()
            asked = Request(at + "/v1/info", headers={"Authorization": f"Bearer {token}"})
            assert json.loads(urlopen(asked).read())["scope"] == scope


def test_side_by_side(loop: str) -> None:
    """Networks that are stepped at the same time come to what each comes to alone."""
    with (
        burst.load(loop, run_seed=5) as net,
        burst.load(loop, run_seed=6) as other,
        burst.load(loop, run_seed=6) as one,
    ):
        legs = [n.output("leg") for n in (net, other, one)]
        eye = other.input("eye", largest=2)
        told = burst.step_all([net, other], "50 ms", [{}, {eye: np.ones(12)}])
        want = one.step(50, {one.input("eye", largest=2): np.ones(12)})
        assert np.array_equal(told[1][legs[1]], want[legs[2]])
        assert list(told[0]) == [legs[0]]
        assert other.digest == one.digest != net.digest
        assert [net.burst, other.burst] == [50, 50]


def test_copies(loop: str) -> None:
    """Copies are networks of their own."""
    with burst.load(loop) as net:
        net.run(10)
        copies = net.copies(2)
        assert [c.run(60).digest for c in copies] == [net.run(50).digest] * 2
        for c in copies:
            c.close()


def test_saves_and_opens(tmp_path: Path, loop: str) -> None:
    """A saved folder has what the network had."""
    with burst.load(loop, record={"spikes": "all", "potentials": ["leg", "crowd[0..9]"]}) as net:
        eye = net.input("eye", largest=2)
        net.run(120, {eye: np.ones(12)})
        rates, spikes, leg = net.rates, net.spikes, net.recorded("potentials")["leg"]
        assert "next burst 120" in repr(net)
        run = net.save(tmp_path / "kept")
        assert "closed" in repr(net)
    assert run.digest == net.digest == run.replay()
    assert run.rates == pytest.approx(rates)
    assert run.rates == pytest.approx(net.rates)
    assert np.array_equal(run.spikes.neuron, spikes.neuron)
    assert np.array_equal(run.recorded("potentials")["leg"].potential, leg.potential)
    assert leg.potential.shape == (600,)
    assert f"digest {run.digest}" in repr(run)
    assert run.plot.rates().data.startswith(b"\x89PNG")
    with pytest.raises(errors.FileError, match="already"):
        net.save(tmp_path / "kept")
    with pytest.raises(errors.UsageError, match="nothing of 'potentials' is recorded"):
        burst.load(loop).run(1).recorded("potentials")
    with pytest.raises(errors.FileError, match="out=False"):
        _ = burst.load(loop, out=False).run(1).spikes
    with pytest.raises(errors.FileError, match="want a run folder"):
        burst.open(tmp_path / "none")


@pytest.mark.parametrize("piece", [1, 7, 1 << 18])
def test_rows_of_an_area(loop: str, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are those of which `area` says so, in however large pieces they are looked for."""
    monkeypatch.setattr(_table, "_PIECE", piece)
    with burst.load(loop) as net:
        net.run(100)
        for spikes in (net.spikes, burst.open(net.folder).spikes):
            sizes: list[int] = []
            for k, name in enumerate(spikes.area_names):
                found, mine = spikes[name], spikes.area == k
                sizes.append(len(found))
                assert found.burst.tolist() == spikes.burst[mine].tolist()
                assert (found.neuron + net.areas[name].first).tolist() == spikes.neuron[mine].tolist()
                assert found[name].burst.tolist() == found.burst.tolist()
            assert np.count_nonzero(sizes) > 1, sizes


def test_tables(loop: str) -> None:
    """Columns are read-only; those of a folder that was opened are mapped."""
    with burst.load(loop) as net:
        assert len(net.spikes) == 0, "before the first burst"
        spikes = net.run(100).spikes
        opened = burst.open(net.folder).spikes
        assert isinstance(opened.burst, np.memmap)
        assert isinstance(opened.neuron, np.memmap)
        assert not isinstance(opened.area, np.memmap), "made when it is looked at"
        assert not spikes.neuron.flags.writeable
        assert not spikes.time_ms.flags.writeable
        assert spikes.time_ms.tolist() == [burst + 1.0 for burst in spikes.burst.tolist()]
        assert spikes is net.spikes, "read once"
        assert len(net.run(10).spikes) > len(spikes)
        crowd = spikes["crowd"]
        assert crowd.neuron.max() < 200
        assert len(crowd) == (spikes.area == 1).sum()
        with pytest.raises(KeyError, match="no area 'crowds', want one of eye, crowd, leg"):
            spikes["crowds"]
        with pytest.raises(AttributeError, match=r"no column 'sum', want one of burst, neuron, .*, time_ms"):
            _ = spikes.sum
        for rows in (3, slice(0, 3), spikes.burst < 3):
            with pytest.raises(TypeError, match="want an area or its name; rows are of columns"):
                spikes[rows]  # type: ignore[index]
        assert {"burst", "neuron", "area", "time_ms"} <= set(dir(spikes)), "for completion"
        frame, table = spikes.to_pandas(), spikes.to_arrow()
        assert isinstance(frame, pd.DataFrame)
        assert isinstance(table, pa.Table)
        assert (frame.area == "crowd").sum() == len(crowd)
        assert table.column("area").to_pylist() == frame.area.tolist()
        for name, column in (("neuron", spikes.neuron), ("burst", spikes.burst), ("area", spikes.area)):
            chunk = table.column(name).chunk(0)
            values = chunk.indices if name == "area" else chunk
            assert values.buffers()[1].address == column.ctypes.data, "no copy"
        assert frame.neuron.tolist() == spikes.neuron.tolist()


def test_streams(loop: str) -> None:
    """What is read of a run that goes on is what the program exports of its folder, in every recording."""
    record = {
        "spikes": "all",
        "potentials": "leg,eye",
        "variables": "leg.V,crowd[0..9].input every 3",
        "fcl": "crowd",
        "weights": "all every 20",
        "histograms": "all",
    }
    row = loop.replace("size: [4, 3, 1]", "neurons: 12")
    placed = loop.replace("size: [4, 3, 1]", "size: [4, 3, 1], extent: [1 mm, 70 um, 0 um], center: [1 um, 0 um, 5 um]")
    for text in (loop, loop.replace("size: [4, 3, 1]", "size: [2, 1, 2], neurons_per_voxel: 3"), row, placed):
        with burst.load(text, record=record) as net:
            earlier = []
            for length in (13, 1, 90):
                net.run(length)
                net.flush()  # ends a chunk
                earlier.append({name: net.recorded(name) for name in record})
            for name in record:
                mine, want = net.recorded(name), burst.open(net.folder).recorded(name)
                assert len(mine) == len(want) > 0
                assert mine.columns == want.columns
                for column in want.columns:
                    got, wanted = getattr(mine, column), getattr(want, column)
                    assert got.dtype == wanted.dtype
                    assert np.array_equal(got, wanted, equal_nan=got.dtype.kind == "f"), (name, column)
                    assert not got.flags.writeable
                    for tables in earlier:  # what was read before the run went on
                        before = getattr(tables[name], column)
                        assert np.array_equal(before, wanted[: len(before)], equal_nan=got.dtype.kind == "f")
                assert len(earlier[0][name]) < len(earlier[2][name]) == len(mine)
            eye, want = net.spikes["crowd"], burst.open(net.folder).spikes["crowd"]
            assert all(np.array_equal(getattr(eye, c), getattr(want, c), equal_nan="_um" in c) for c in want.columns)


def test_streams_are_read_once(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at the spikes after each step reads each byte of the recording once."""
    from burst import _stream

    taken = 0

    def counted(f: Any, at: int, into: memoryview, real: Any = _stream._into) -> None:
        nonlocal taken
        taken += len(into)
        real(f, at, into)

    monkeypatch.setattr(_stream, "_into", counted)
    with burst.load(loop) as net:
        for _ in range(20):
            seen = len(net.run(5).spikes)
        assert seen > 0
        assert taken < (net.folder / "spikes.arrows").stat().st_size


def test_positions() -> None:
    """Neurons and spikes of areas with an extent have places in um, those of other areas none."""
    net = burst.Network("placed")
    place: dict[str, Any] = {"extent": ["1 mm", "90 um", "0 um"], "center": ["0 um", "5 um", "-7 um"]}
    a = net.area("a", [2, 3, 1], neurons_per_voxel=2, **place, drive={"constant": 1})
    b = net.area("b", 2, drive={"constant": 1})
    net.connect(a, a, "distance", p=1, mask="d < 31 um", weight=1)
    with net:
        net.run(5)
        at = net.positions(a)
        assert at.shape == (12, 3)
        x, y, z = np.meshgrid([-250, 250], [-25, 5, 35], [-7], indexing="ij")
        want = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1).repeat(2, axis=0)
        assert np.array_equal(at, want)
        spikes = net.spikes[a]
        assert len(spikes) == len(net.spikes["a"]) > 0
        assert np.array_equal(np.stack([spikes.x_um, spikes.y_um, spikes.z_um], 1), at[spikes.neuron])
        assert np.isnan(net.spikes["b"].x_um).all()
        with pytest.raises(errors.UsageError, match="has no positions"):
            net.positions(b)
        with pytest.raises(errors.UsageError, match="no area 'c', want one of a, b"):
            net.positions("c")
        assert np.array_equal(burst.open(net.folder).positions("a"), at)


def test_damaged_stream(loop: str) -> None:
    """A stream that is not what its list says is refused."""
    from burst._stream import Stream

    with burst.load(loop).run(40) as net:
        net.flush()
        net.run(40)
        net.flush()
        base = net.folder / "spikes"
        whole = Stream(base).read()
        assert whole is not None
        data, marks = base.with_suffix(".arrows").read_bytes(), base.with_suffix(".sums").read_text()
    lines = marks.splitlines(keepends=True)
    (base.parent / "x.sums").write_text("".join(lines[:2]) + lines[2][:-3])
    (base.parent / "x.arrows").write_bytes(data)
    first = Stream(base.parent / "x").read()
    assert first is not None
    assert 0 < len(first.bursts) < len(whole.bursts), "a line without an end is left out"
    rows, last = lines[1].split(",")[2], lines[1].split(",")[4]
    wrong = {
        "its end is gone": (data[:-70], marks),
        "another head": (data, marks.replace("rows", "lines")),
        "more rows": (data, marks.replace(f",{rows},", f",{int(rows) + 1},", 1)),
        "other bursts": (data, marks.replace(f",{last},", ",999,", 1)),
        "shifted": (data[8:] + bytes(8), marks),
        "zeros": (data[:8] + bytes(200) + data[208:], marks),
    }
    for what, (bad, text) in wrong.items():
        (base.parent / "x.sums").write_text(text)
        (base.parent / "x.arrows").write_bytes(bad)
        with pytest.raises(errors.DamagedError):
            pytest.fail(f"{what}: {Stream(base.parent / 'x').read()}")


def test_errors_say_where(tmp_path: Path) -> None:
    """Mistakes have place and suggestion."""
    (tmp_path / "net.yaml").write_text(
        "burst: v1\nareas:\n  - {name: a, neurons: 2, threshhold: 1}\n  - {name: a, size: 3}\n"
    )
    with pytest.raises(errors.GenomeError) as e:
        burst.load(tmp_path / "net.yaml")
    first, second, third = e.value.faults
    assert (first.line, first.column, first.key, first.suggestion) == (3, 27, "areas[0].threshhold", "threshold")
    assert first.file.endswith("net.yaml")
    assert first.message.startswith("unknown key")
    assert (second.line, second.key, second.suggestion) == (4, "areas[1].name", None)
    assert third.message == "expects a list of 3, found 3"
    refused: list[tuple[type[errors.BurstError], str, dict[str, Any]]] = [
        (errors.FileError, "quickstrat", {}),
        (errors.LimitError, "burst-1m", {"max_memory": "1MB"}),
        (errors.UsageError, "quickstart", {"backend": "gpu"}),
        (errors.UsageError, "quickstart", {"record": {"spike": "all"}}),
    ]
    for error, source, options in refused:
        with pytest.raises(error):
            burst.load(source, **options)


@pytest.mark.parametrize(
    ("length", "step", "want"),
    [("1 s", 0.1, 10_000), ("20ms", 1, 20), ("100 us", 0.1, 1), (7, 0.1, 7), (np.int64(3), 1, 3)],
)
def test_lengths(length: int | str, step: float, want: int) -> None:
    assert bursts(length, step) == want


@pytest.mark.parametrize("length", ["1", "20 min", "0.5 ms", 0, -1, 2.5, "0 ms"])
def test_lengths_that_cannot_be(length: int | str) -> None:
    with pytest.raises(errors.UsageError):
        bursts(length, 1)


def test_ports() -> None:
    """An input is bound to each port of a model by name and by number, and its amounts reach that port alone."""
    cell = {
        "name": "cell", "ports": {"ampa": "nS", "gaba": "nS", "current": "pA"},
        "state": {"v": 0, "a": "0 nS", "g": "0 nS", "c": "0 pA"},
        "update": ["a = a + ampa", "g = g + gaba", "c = c + current"], "threshold": "v >= 1",
    }  # fmt: skip
    kept = {"variables": [{"area": "E", "neurons": "all", "names": ["a", "g", "c"]}]}
    areas = [{"name": "E", "neurons": 2, "model": "cell"}]
    with burst.load({"burst": "v1", "name": "r", "models": [cell], "areas": areas, "record": kept}) as net:
        by_name = net.input("E", largest=8, port="gaba", once=True)
        by_number = net.input("E", largest=8, port=3, once=True)
        seen = [net.output("E", "potentials", variable=name) for name in "agc"]
        out = net.step(1, {by_name: [1, 2], by_number: [0, -4]})
        assert [out[x].tolist() for x in seen] == [[0, 0], [1, 2], [0, -4]]
        with pytest.raises(errors.BurstError, match='did you mean "gaba"'):
            net.input("E", largest=8, port="gabba")
