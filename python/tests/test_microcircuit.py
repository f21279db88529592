"""What compares the microcircuit with NEST: its statistics, and that it sees a planted mistake."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench/peers"))
import microcircuit

CELL = """model: lif_psc_exp, params: {C: 250 pF, tau: 10 ms, tau_syn: 0.5 ms, rest: -65 mV, reset: -65 mV,
     threshold: -50 mV, refractory: 2 ms}, drive: {poisson: {rate: 9000 Hz, weight: 120 pA}}"""
BALANCED = f"""burst: v1
name: balanced
seed: 3
timestep: 0.1 ms
areas:
  - {{name: E, neurons: 400, {CELL}}}
  - {{name: I, neurons: 100, {CELL}}}
projections:
  - {{from: E, to: E, rule: fixed_total_number, count: 16000, weight: 120 pA, delay: 1.5 ms}}
  - {{from: E, to: I, rule: fixed_total_number, count: 4000, weight: 120 pA, delay: 1.5 ms}}
  - {{from: I, to: E, rule: fixed_total_number, count: 4000, weight: -600 pA, delay: 0.8 ms}}
  - {{from: I, to: I, rule: fixed_total_number, count: 1000, weight: -600 pA, delay: 0.8 ms}}
"""


def test_statistics_of_known_trains(tmp_path: Path) -> None:
    regular = np.arange(0, 10_000, 200)
    two = np.tile([0, 100], 25).cumsum()[:50] + np.arange(50) * 50  # intervals 150 and 50
    late = np.array([10_000, 10_100, 10_400])  # after the second that counts
    trains = [regular, regular, two, np.array([7, 9]), late, np.array([5, 10_001])]
    step, neuron = np.concatenate(trains), np.repeat(np.arange(6), [len(x) for x in trains])
    deal = np.random.default_rng(1).permutation(len(step))
    microcircuit.save(tmp_path / "1.npz", step[deal], neuron[deal], (3, 3), names=("A", "B"), timestep=0.1)
    found = microcircuit.load(tmp_path / "1.npz", 1.0)
    assert found["A", "rate"].tolist() == [50, 50, 50]
    assert found["B", "rate"].tolist() == [0, 1, 2]
    assert found["A", "CV"] == pytest.approx([0, 0, np.diff(two).std() / np.diff(two).mean()])
    assert len(found["B", "CV"]) == 0  # fewer than two intervals
    assert len(found["A", "correlation"]) == 3
    assert found["A", "correlation"][-1] == pytest.approx(1)
    assert found["B", "correlation"] == pytest.approx([1])  # the two that fire, in the same bin


def test_distance_is_that_of_the_definition() -> None:
    draw = np.random.default_rng(2)
    a, b = np.sort(draw.integers(0, 9, 40) / 3), np.sort(draw.integers(1, 11, 70) / 3)
    by_hand = max(abs((a <= x).mean() - (b <= x).mean()) for x in [*a, *b])
    assert microcircuit.distance(a, b) == pytest.approx(by_hand)
    assert microcircuit.distance(a, a) == 0
    assert microcircuit.distance(a, b + 10) == 1


def test_a_planted_mistake_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(microcircuit, "SECONDS", 1.0)
    program = os.environ["BURST_PROGRAM"]
    texts = {"ours": BALANCED, "same": BALANCED, "weaker": BALANCED.replace("-600 pA", "-540 pA")}
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text)
        seeds = "1..4" if name == "ours" else "11..14"
        microcircuit.run(program, tmp_path / f"{name}.yaml", tmp_path / name, seeds, ["--backend", "cpu", "--quiet"])
    found = {}
    for name in ("same", "weaker"):
        capsys.readouterr()
        microcircuit.compare(tmp_path / name, tmp_path / "ours")
        said = capsys.readouterr().out
        found[name] = [float(line.split("p = ")[1]) for line in said.splitlines() if "p = " in line]
    assert min(found["same"]) > 0.05
    assert max(found["weaker"][:2]) < 0.05  # rates and CVs; 2 of the 70 ways to deal 4 and 4 runs part them so


def test_one_run_has_no_yardstick(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder, seeds in ((one, [1]), (two, [2, 3])):
        folder.mkdir()
        for seed in seeds:
            steps = np.sort(np.random.default_rng(seed).integers(0, 1000, 60))
            microcircuit.save(
                folder / f"{seed}.npz", steps, np.arange(60) // 20, (3,), names=("A",), timestep=0.1, seconds=0.1
            )
    microcircuit.compare(one, two)
    with pytest.raises(SystemExit, match="one has 1 runs; at least 2 are wanted"):
        microcircuit.compare(two, one)
