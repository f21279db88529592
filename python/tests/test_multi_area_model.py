"""The converter of the multi-area model, on a model of two areas that has the real one's interface."""

import csv
import runpy
import sys
from pathlib import Path

import pytest

import burst

CONVERTER = Path(__file__).parents[1] / "examples/multi_area_model.py"

MODEL = '''
import nest
from config import base_path

POPULATIONS = ["23E", "23I"]

class MultiAreaModel:
    """What the converter reads of the real one."""

    def __init__(self, spec):
        factor, scale = spec["connection_params"]["cc_weights_factor"], spec["N_scaling"]
        assert ("fullscale_rates" in spec) == (scale != 1)
        areas = ["V1", "7a"]
        cell = {"E_L": -65.0, "V_th": -50.0, "V_reset": -65.0, "C_m": 250.0, "tau_m": 10.0, "tau_syn_ex": 0.5}
        cell["t_ref"] = 2.0
        self.params = {
            "neuron_params": {"single_neuron_dict": cell, "V0_mean": -150.0, "V0_sd": 50.0},
            "input_params": {"rate_ext": 10.0},
            "delay_params": {"delay_e": 1.5, "delay_i": 0.75, "delay_rel": 0.5, "interarea_speed": 3.5},
        }
        self.structure_vec = [f"{a}-{p}" for a in areas for p in POPULATIONS]
        self.add_DC_drive = [0.0, 12.5, 0.0, 0.0] if scale != 1 else [0.0] * 4
        self.N = {a: {p: 20.7 for p in POPULATIONS} for a in areas}
        self.K = {a: {p: {"external": {"external": 1246.25}} for p in POPULATIONS} for a in areas}
        self.distances = {a: {b: 7.0 for b in areas} for a in areas}
        self.synapses, self.W, self.W_sd = {}, {}, {}
        for to in areas:
            for name in ("synapses", "W", "W_sd"):
                getattr(self, name)[to] = {p: {a: {} for a in areas} for p in POPULATIONS}
            for onto in POPULATIONS:
                self.W[to][onto]["external"] = {"external": 87.8}
                for at in areas:
                    for population in POPULATIONS:
                        inhibits, far = population == "23I", at != to
                        self.synapses[to][onto][at][population] = 0.9 if inhibits and far else 300.9
                        self.W[to][onto][at][population] = -965.0 if inhibits else 87.8 * (factor if far else 1)
                        self.W_sd[to][onto][at][population] = 8.78
'''


@pytest.mark.parametrize(("state", "scale", "weight"), [("ground", "1", 87.8), ("metastable", "0.006", 1.9 * 87.8)])
def test_converter(
    state: str,
    scale: str,
    weight: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What it writes is a network with the model's sizes, weights and delays, which runs."""
    package = tmp_path / "model/multiarea_model"
    (package / "data_multiarea").mkdir(parents=True)
    (package / "__init__.py").write_text(MODEL)
    monkeypatch.setattr(
        sys, "argv", ["x", str(tmp_path / "model"), "--state", state, "--scale", scale, "-o", str(tmp_path / "out")]
    )
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("config", "nest", "multiarea_model"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    runpy.run_path(str(CONVERTER), run_name="__main__")
    for name in ("config", "nest", "multiarea_model"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    genome = tmp_path / "out/multi-area-model.yaml"
    assert capsys.readouterr().out == f"wrote {genome}\n"
    with open(tmp_path / "out/connections.csv", newline="", encoding="utf-8") as file:
        rows = {(r["source"], r["target"]): r for r in csv.DictReader(file)}
    assert len(rows) == 12  # pairs of populations with less than one synapse have none
    assert ("7a-23I", "V1-23E") not in rows
    far, inhibits = rows["V1-23E", "7a-23I"], rows["7a-23I", "7a-23E"]
    assert float(far["weight_pA"]) == pytest.approx(weight)
    assert (far["delay_ms"], far["delay_sd_ms"], far["count"], far["weight_min_pA"]) == ("2.0", "1.0", "300", "0")
    assert (inhibits["delay_ms"], inhibits["weight_min_pA"], inhibits["weight_max_pA"]) == ("0.75", "-inf", "0")
    assert ("constant: 12.5 pA" in genome.read_text()) == (scale != "1")
    with burst.load(genome, out=False) as net:
        assert {name: area.neurons for name, area in net.areas.items()} == dict.fromkeys(
            ("V1-23E", "V1-23I", "7a-23E", "7a-23I"), 20
        )
        net.run(20)


def test_rates_of_areas(tmp_path: Path) -> None:
    """Populations count by their neurons: 300 of V1 at 2 and 4 Hz, then 100 of them at 8 Hz alone, and 7a at 1 Hz."""
    rates = runpy.run_path(str(CONVERTER.with_name("area_rates.py")))["rates"]
    rows = ["burst,bursts,area,spikes,rate_hz"]
    for burst_number, area, spikes, hz in [
        (0, "V1-23E", 400, 2), (0, "V1-23I", 400, 4), (0, "7a-23E", 50, 1),
        (10000, "V1-23E", 0, 0), (10000, "V1-23I", 800, 8), (10000, "7a-23E", 50, 1),
    ]:  # fmt: skip
        rows.append(f"{burst_number},10000,{area},{spikes},{hz}")
    (tmp_path / "rates.csv").write_text("\n".join(rows) + "\n")
    assert rates(tmp_path) == {"V1": ([0.0, 1000.0], [800 / 300, 800 / 300]), "7a": ([0.0, 1000.0], [1.0, 1.0])}
