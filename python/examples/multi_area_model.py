"""Writes the multi-area model of macaque visual cortex as a genome, from your own copy of the model.

M. Schmidt et al., PLOS Computational Biology 14(10):e1006359 (2018): 32 areas, 254 populations, 4.13 million neurons
and 24 billion synapses in steps of 0.1 ms. The model is at https://github.com/INM-6/multi-area-model, under a licence
of its own (CC BY-NC-SA 4.0), which is why its numbers are not here. Its Python code computes them, without NEST.

Usage, in a Python that has numpy below 2, pandas, scipy, matplotlib, nested_dict and dicthash:

    python multi_area_model.py multi-area-model --state ground --scale 0.006 -o mam
    burst run mam/multi-area-model.yaml

The scale is of neurons and, unless `--indegrees` is given, of in-degrees too. The state is `ground` (chi = 1) or
`metastable` (chi = 1.9, chi_I = 2).
"""

import argparse
import csv
import importlib
import importlib.util
import shutil
import sys
import tempfile
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STATES = {
    "ground": (1.0, 1.0),
    "metastable": (1.9, 2.0),
}  # chi and chi_I: factors of weights between areas, and onto inhibition
COLUMNS = [
    "source", "target", "rule", "count", "weight_pA", "weight_sd_pA", "weight_min_pA", "weight_max_pA",
    "delay_ms", "delay_sd_ms", "delay_min_ms",
]  # fmt: skip


def load(source: Path, work: Path, state: str, scale: float, indegrees: float) -> Any:
    """Has the model's own code compute the network, in a copy, since it writes files beside itself."""
    shutil.copytree(source / "multiarea_model", work / "multiarea_model")
    sys.path.insert(0, str(work))
    config = types.ModuleType("config")
    config.base_path, config.data_path = str(work), str(work)  # type: ignore[attr-defined]
    sys.modules["config"] = config
    if importlib.util.find_spec("nest") is None:
        sys.modules["nest"] = types.ModuleType("nest")  # it is imported, and used by simulations alone
    for folder in ("config_files", "multiarea_model/data_multiarea/custom_data_files"):
        (work / folder).mkdir(exist_ok=True)
    model = importlib.import_module("multiarea_model")

    chi, chi_inhibitory = STATES[state]
    network: dict[str, Any] = {
        "N_scaling": scale,
        "K_scaling": indegrees,
        "connection_params": {
            "g": -11.0,
            "K_stable": str(source / "figures/SchueckerSchmidt2017/K_prime_original.npy"),
            "fac_nu_ext_TH": 1.2,
            "fac_nu_ext_5E": 1.125,
            "fac_nu_ext_6E": 1.41666667,
            "av_indegree_V1": 3950.0,
            "cc_weights_factor": chi,
            "cc_weights_I_factor": chi_inhibitory,
        },
        "neuron_params": {"V0_mean": -150.0, "V0_sd": 50.0},
        "input_params": {"rate_ext": 10.0},
    }
    if scale != 1 or indegrees != 1:
        network["fullscale_rates"] = str(source / "tests/fullscale_rates.json")
    return model.MultiAreaModel(network)


def areas(model: Any) -> Iterator[str]:
    """The genome's areas, one a population, with Poisson input and the current that makes up for smaller in-degrees."""
    cell, p = model.params["neuron_params"]["single_neuron_dict"], model.params["neuron_params"]
    params = (
        f"{{C: {cell['C_m']} pF, tau: {cell['tau_m']} ms, tau_syn: {cell['tau_syn_ex']} ms, rest: {cell['E_L']} mV, "
        f"reset: {cell['V_reset']} mV, threshold: {cell['V_th']} mV, refractory: {cell['t_ref']} ms}}"
    )
    for name, current in zip(model.structure_vec, model.add_DC_drive, strict=True):
        area, population = name.rsplit("-", 1)
        rate = float(model.params["input_params"]["rate_ext"] * model.K[area][population]["external"]["external"])
        weight = float(model.W[area][population]["external"]["external"])
        drives = [f"{{poisson: {{rate: {rate!r} Hz, weight: {weight!r} pA}}}}"]
        if current != 0:
            drives.append(f"{{constant: {float(current)!r} pA}}")
        yield (
            f'  - name: "{name}"\n    neurons: {int(model.N[area][population])}\n'
            f"    model: lif_psc_exp\n    params: {params}\n"
            f'    init: {{V: "normal({p["V0_mean"]} mV, {p["V0_sd"]} mV)"}}\n    drive: [{", ".join(drives)}]\n'
        )


def projections(model: Any, step: float) -> Iterator[list[object]]:
    """Rows of COLUMNS, one for each pair of populations with a synapse. Weights keep the sign of their source."""
    delays = model.params["delay_params"]
    for target in model.structure_vec:
        to, onto = target.rsplit("-", 1)
        for source in model.structure_vec:
            at, population = source.rsplit("-", 1)
            count = int(model.synapses[to][onto][at][population])
            if count == 0:
                continue
            if at != to:
                delay = model.distances[to][at] / delays["interarea_speed"]
            else:
                delay = delays["delay_e"] if "E" in population else delays["delay_i"]
            lowest, highest = ("-inf", 0) if at == to and "I" in population else (0, "inf")
            weight, sd = model.W[to][onto][at][population], model.W_sd[to][onto][at][population]
            yield [source, target, "fixed_total_number", count, float(weight), float(sd), lowest, highest,
                   float(delay), float(delay * delays["delay_rel"]), step]  # fmt: skip


def main() -> None:
    """Reads the command line and writes the genome and its table of projections."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("model", type=Path, help="the folder of your copy of the model")
    parser.add_argument("--state", choices=STATES, default="ground")
    parser.add_argument("--scale", type=float, default=1.0, help="of neurons and in-degrees; 1 is the whole model")
    parser.add_argument("--indegrees", type=float, help="scale of in-degrees, where it is not that of neurons")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the folder to write")
    args = parser.parse_args()
    step = 0.1  # ms
    with tempfile.TemporaryDirectory() as work:
        indegrees = args.scale if args.indegrees is None else args.indegrees
        model = load(args.model.resolve(), Path(work), args.state, args.scale, indegrees)
        args.output.mkdir(parents=True, exist_ok=True)
        with open(args.output / "connections.csv", "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(COLUMNS)
            rows.writerows(projections(model, step))
        genome = args.output / "multi-area-model.yaml"
        with open(genome, "w", encoding="utf-8") as file:
            file.write(
                f"burst: v1\nname: multi-area-model\nseed: 1\ntimestep: {step} ms\nscale: auto\nbursts: 1 s\nareas:\n"
            )
            file.writelines(areas(model))
            file.write("projections: {file: connections.csv}\n")
    print(f"wrote {genome}")


if __name__ == "__main__":
    main()
