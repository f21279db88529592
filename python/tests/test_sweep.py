"""Sweeps."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import burst
from burst import _program, errors
from burst._sweep import SweepWarning


def test_grid(tmp_path: Path, loop: str) -> None:
    """A grid with seeds has the rows of the command line, and each point is the run of these values alone."""
    (tmp_path / "loop.yaml").write_text(loop)
    rate = "areas.crowd.drive.poisson.rate"
    swept = burst.sweep(
        loop,
        {rate: ["200 Hz", "600 Hz"], ("areas.crowd.threshold", "areas.leg.threshold"): np.array([1.25, 1.5, 2.0])},
        "100 ms",
        seeds=range(4, 6),
        settle="20 ms",
        threads=1,
    )
    text = _program.call(
        "run", str(tmp_path / "loop.yaml"), "--bursts=100", "--settle=20ms", "--seeds=4..5", "--no-out", "--json",
        f"--sweep={rate}=200Hz,600Hz", "--sweep=areas.crowd.threshold,areas.leg.threshold=1.25,1.5,2",
    )  # fmt: skip
    rows = json.loads(text)["runs"]
    assert len(swept) == len(rows) == 12
    assert swept["digest"].tolist() == [r["digest"] for r in rows]
    assert swept["seed"].tolist() == [r["seed"] for r in rows] == [4, 5] * 6
    want = np.array([r["areas"][1]["rate_hz"] for r in rows])
    assert np.array_equal(swept["crowd rate_hz"], want)
    assert swept.grid("crowd rate_hz") == pytest.approx(want.reshape(2, 3, 2).mean(2))
    assert swept.axes[0] == ((rate,), ["200 Hz", "600 Hz"])
    assert swept.complete
    assert not swept.errors
    run = swept.run(8)
    assert run.digest == swept["digest"][7]
    with burst.load(
        loop, set={rate: "600 Hz", "areas.crowd.threshold": 1.25, "areas.leg.threshold": 1.25}, seed=5
    ) as n:
        assert n.run(100).digest == run.digest
    assert run.replay() == run.digest
    maps = {swept.plot.rate("crowd").data, swept.plot.rate("leg").data, swept.plot.synchrony("crowd").data}
    assert len(maps) == 3
    assert all(m.startswith(b"\x89PNG") for m in maps)
    frame, table = swept.to_pandas(), swept.to_arrow()
    assert list(frame.columns) == table.column_names == swept.columns
    assert frame["digest"].tolist() == table.column("digest").to_pylist() == swept["digest"].tolist()
    assert "complete, 12 points" in repr(swept)
    with pytest.raises(errors.UsageError, match="no map of eyes; there are: crowd, eye, leg"):
        swept.plot.rate("eyes")
    with pytest.raises(KeyError, match="no column 'rate', want one of point"):
        swept["rate"]
    folder = swept.folder
    with pytest.raises(errors.FileError, match=r"burst\.Sweep opens a sweep"):
        burst.open(folder)
    assert np.array_equal(burst.Sweep(folder)["spikes"], swept["spikes"])
    del swept
    assert not folder.exists(), "it was temporary"


def test_trials_and_seeds(tmp_path: Path, loop: str) -> None:
    """Trials share wiring; over them alone there is no map, and their folders have other names."""
    trials = burst.sweep(loop, None, 50, trials=3, out=tmp_path / "trials", record={"spikes": "none"})
    seeds = burst.sweep(loop, None, 50, seeds=range(31, 33), out=tmp_path / "seeds")
    assert trials["seed"].tolist() == [31] * 3
    assert trials["run_seed"].tolist() == [31, 32, 33]
    assert trials.run(2).digest == trials["digest"][1]
    assert seeds.run(2).digest == seeds["digest"][1]
    assert seeds["digest"][0] == trials["digest"][0]
    assert trials.grid("spikes") == pytest.approx(trials["spikes"].mean())
    with pytest.raises(errors.UsageError, match="over seeds and trials alone"):
        trials.plot.rate()
    one = burst.sweep(loop, {"areas.crowd.threshold": "1..2/3"}, 50)
    assert one["areas.crowd.threshold"].tolist() == [1, 1.5, 2]
    assert one.plot.rate().data.startswith(b"\x89PNG")


def test_built(tmp_path: Path) -> None:
    """A network that was built is swept with its arrays, which stay beside a folder that stays."""
    net = burst.Network("built", timestep="0.1 ms", seed=2, threads=1)
    s = net.area("S", 5, "spike_list", spikes=(np.arange(5), np.arange(5) * 3))
    e = net.area("E", 20, "lif", tau=np.linspace(10, 20, 20))
    net.connect(s, e, (np.arange(5).repeat(4), np.arange(20)), weight=np.linspace(19, 25, 20), delay="1 ms")
    path = "areas.E.params.threshold"
    for out in (None, tmp_path / "kept"):
        swept = burst.sweep(net, {path: ["20 mV", "22 mV"]}, "5 ms", out=out)
        assert swept["E spikes"][0] > swept["E spikes"][1] > 0
        assert swept.run(2).replay() == swept["digest"][1]
    assert net.run("5 ms").digest == burst.sweep(net, {path: ["20 mV"]}, 50)["digest"][0]


def test_points_fail(tmp_path: Path, loop: str) -> None:
    """Points that fail are told, the others have run; nothing that ran is an error."""
    path = "areas.crowd.neurons"
    with pytest.warns(SweepWarning, match=r"1 of 2 points have failed: point 2 .*memory"):
        swept = burst.sweep(loop, {path: [200, 40_000_000]}, 20, max_memory="200MB", jobs=1, out=tmp_path / "sweep")
    assert list(swept.errors) == [2]
    assert not swept.complete
    assert np.isnan(swept.grid("crowd rate_hz")).tolist() == [False, True]
    with pytest.raises(errors.LimitError):
        burst.sweep(loop, {path: [40_000_000]}, 20, max_memory="200MB")
    refused: dict[type[errors.BurstError], Callable[[], object]] = {
        errors.UsageError: lambda: burst.sweep(loop, {"areas.crowds.threshold": [1]}, 5),
        errors.FileError: lambda: burst.sweep(tmp_path / "none.yaml", {"seed": [1]}, 5),
        errors.DamagedError: lambda: burst.Sweep(tmp_path / "bad"),
    }
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "sweep.json").write_text("{}")
    for error, call in refused.items():
        with pytest.raises(error):
            call()
    for message, call in {
        "over nothing": lambda: burst.sweep(loop),
        "such as range": lambda: burst.sweep(loop, seeds=range(1, 9, 2)),
        "out=False": lambda: burst.sweep(loop, trials=2, out=False),
        "no values": lambda: burst.sweep(loop, {path: []}),
        "want a number of bursts or a time": lambda: burst.sweep(loop, trials=2, length="5 min"),
    }.items():
        with pytest.raises(errors.UsageError, match=message):
            call()


def test_interrupted(tmp_path: Path, loop: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C stops a sweep in good order, and it goes on where it was."""
    out = tmp_path / "sweep"

    def stop() -> None:
        while not list(out.glob("*/point.json")):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Thread(target=stop)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            burst.sweep(loop, None, 3000, trials=40, out=out, threads=1, record={"spikes": "none"}, progress=True)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    half = burst.Sweep(out)
    assert 0 < len(half) < 40
    assert not half.complete
    whole = half.resume()
    assert whole.complete
    assert len(whole) == 40
    assert whole["digest"][: len(half)].tolist() == half["digest"].tolist()
    capfd.readouterr()


def test_this_process_killed(tmp_path: Path, loop: str) -> None:
    """A sweep ends with the process that started it, in good order."""
    out = tmp_path / "sweep"
    text = f"import burst; burst.sweep({loop!r}, None, 3000, trials=400, out={str(out)!r}, threads=1)"
    user = subprocess.Popen([sys.executable, "-c", text])
    while not list(out.glob("*/point.json")):
        time.sleep(0.01)
    user.kill()
    user.wait()
    deadline = time.monotonic() + 60
    while not (out / "sweep.csv").exists() and time.monotonic() < deadline:  # which is written when it ends
        time.sleep(0.01)
    half = burst.Sweep(out)
    assert 0 < len(half) < 400
    assert not half.complete
