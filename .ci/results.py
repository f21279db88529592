"""Runs the lines of docs/results.md that pandas and NumPy read results with, in a folder with the results of quickstart."""
import json
import re
import sys

import numpy
import pandas

docs = open(sys.argv[1]).read()
lines = [line for block in re.findall(r"```python\n(.*?)```", docs, re.S) for line in block.splitlines()]
# Debian's pandas has no Parquet reader.
lines = [line for line in lines if not re.search(r"polars|read_parquet", line)]
assert len(lines) == 4, lines

manifest = json.load(open("runs/quickstart-1/manifest.json"))
recorded = [a["name"] for a in manifest["areas"] if a["recorded"]]
sizes = {a["name"]: a["neurons"] for a in manifest["areas"]}
rates = pandas.read_csv("runs/quickstart-1/rates.csv")
spikes = rates.groupby("area").spikes.sum()
assert spikes.sum() == manifest["spikes"], spikes

by_area = eval(lines[0])
assert {a: spikes[a] for a in recorded if spikes[a]} == by_area.to_dict(), by_area

table = eval(lines[1].split("#")[0].strip())
assert table.shape == (rates.burst.nunique(), len(sizes)), table.shape

here = {"v": pandas.read_csv("variables.csv")}
wide = eval(lines[2], here)
assert list(wide.columns) == ["V", "input"], wide.columns
assert wide.shape[0] * 2 == len(here["v"]) == 2 * sizes["cortex"] * manifest["bursts"], wide.shape

here = {"numpy": numpy}
load, count = lines[3].split("; ")
exec(load, here)
counts = eval(count, here)
s = here["s"]
assert dict(zip(s["area_names"].tolist(), counts.tolist())) == {a: by_area.get(a, 0) for a in sizes}, counts
assert float(s["timestep_ms"]) == manifest["timestep_ms"]

frame = pandas.read_csv("spikes.csv")
assert (frame.burst.to_numpy() == s["burst"]).all() and (frame.neuron.to_numpy() == s["neuron"]).all()
assert (frame.area.to_numpy() == s["area_names"][s["area"]]).all()
print(f"{len(frame)} spikes read by pandas {pandas.__version__} and NumPy {numpy.__version__}")
