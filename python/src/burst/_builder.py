"""Genomes made in Python: areas, projections and stimuli as a text and the files that it names."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _arrow
from .errors import FileError, UsageError

# The keys of an area that are no parameters of its model.
_OF_AREA = {
    "neurons", "size", "neurons_per_voxel", "aliases", "position", "extent", "center",
    "positions", "periodic", "columns", "group", "devices",
    "psp", "psp_max", "divide_psp", "init", "drive", "from", "until", "factor", "spikes", "file", "upstream",
}  # fmt: skip


@dataclass(frozen=True)
class Area:
    """An area of a network. `neurons` is how many it has; `model` the name of its neurons' model."""

    name: str
    neurons: int
    model: str
    first: int = 0
    size: tuple[int, int, int] = (0, 1, 1)

    def __str__(self) -> str:
        return self.name


def name_of(area: Area | str) -> str:
    """The name of an area."""
    return area.name if isinstance(area, Area) else area


class Builder:
    """A genome in the making."""

    def __init__(self, name: str, keys: Mapping[str, Any]) -> None:
        self.genome: dict[str, Any] = {"burst": "v1", "name": name, **_plain(keys)}
        self.genome |= {"areas": [], "projections": [], "stimuli": []}
        self.areas: dict[str, Area] = {}
        self.files: dict[str, bytes | Path] = {}
        self._projections = 0  # those of tables among them

    def area(self, name: str, neurons: int | Sequence[int], model: str, keys: Mapping[str, Any]) -> Area:
        """Adds an area."""
        if name in self.areas:
            raise UsageError(f"area {name!r} is there already, want another name")
        area: dict[str, Any] = {"name": name, "model": model}
        if isinstance(neurons, (int, np.integer)):
            area["neurons"], size = int(neurons), (int(neurons), 1, 1)
        else:
            found = np.asarray(neurons)
            if found.shape != (3,) or found.dtype.kind not in "ui":
                raise UsageError(
                    f"area {name!r}: a size of {neurons!r}, want whole numbers x, y and z, or how many neurons"
                )
            size = tuple(found.tolist())
            area["size"] = list(size)
        file = f"area-{len(self.areas)}"
        params: dict[str, Any] = {}
        columns: dict[str, npt.NDArray[Any]] = {}

        def column(key: str, value: Any) -> Any:
            """Keeps an array, which may stand in a pair with its unit, as a column."""
            unit = ""
            if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str):
                value, unit = value[0], f", {value[1]}"
            if not isinstance(value, (np.ndarray, list)):
                return value
            columns[key] = np.asarray(value)
            return f"column({file}.csv, {key}{unit})"

        def numbers(drive: str, kind: str, value: Any) -> Any:
            """Keeps arrays among the numbers of a drive as columns."""
            if kind in ("poisson", "normal") and isinstance(value, Mapping):
                return {k: column(f"{drive}_{k}", v) for k, v in value.items()}
            return column(drive, value) if kind == "constant" else value

        for given, value in keys.items():
            key = given.removesuffix("_")  # from_ is a word of Python's without it
            if key == "spikes" and not isinstance(value, list):
                key, value = "file", self._trains(f"{file}.arrows", name, value)
            if key == "positions" and not isinstance(value, str):
                places = np.asarray(value, np.float64)
                if places.ndim != 2 or places.shape[1] != 3:
                    raise UsageError(
                        f"area {name!r}: positions of shape {places.shape}, want a row of x, y and z for each"
                    )
                value = f"{file}-positions.csv"
                self.files[value] = _csv(dict(zip("xyz", places.T, strict=True)))
            if key == "params":
                params |= {k: column(k, v) for k, v in value.items()}
            elif key in ("init", "columns"):
                area[key] = {k: column(f"{key}_{k}", v) for k, v in value.items()}
            elif key == "drive":
                listed = not isinstance(value, Mapping)
                drives = [
                    {k: numbers(f"drive_{n}", k, v) for k, v in drive.items()}
                    for n, drive in enumerate(value if listed else [value])
                ]
                area[key] = drives if listed else drives[0]  # whose paths are those of a genome
            elif not (key in _OF_AREA or model == "feagi"):
                params[key] = column(key, value)
            else:
                area[key] = column(key, value) if key == "threshold" else value
        if params:
            area["params"] = params
        total = size[0] * size[1] * size[2] * int(area.get("neurons_per_voxel", 1))
        if columns:
            self.files[f"{file}.csv"] = _csv(_checked(columns, total, f"area {name!r}"))
        self.genome["areas"].append(_plain(area))
        self.areas[name] = Area(name, total, model, sum(a.neurons for a in self.areas.values()), size)
        return self.areas[name]

    def connect(self, source: Area | str | None, target: Area | str | None, rule: Any, keys: Mapping[str, Any]) -> int:
        """Adds a projection and returns its number."""
        number = self._projections
        made: dict[str, Any] = {} if source is None else {"from": name_of(source)}
        if target is not None:
            made["to"] = name_of(target)
        if isinstance(keys.get("port"), str):
            made["to"] = {"area": made.get("to"), "port": keys["port"]}
            keys = {k: v for k, v in keys.items() if k != "port"}
        if isinstance(rule, str):
            made |= {"rule": rule, **keys}
        elif _is_table(rule):
            made |= {"rule": "edges", "file": f"projection-{number}.arrows", **keys}
            self.files[made["file"]] = _arrow_table(rule)
        elif not isinstance(rule, (tuple, list)) or len(rule) != 2:
            raise UsageError(
                f"projection {number}: a rule of {type(rule).__name__}, want a rule's name with its keys as arguments, "
                'such as "fixed_indegree", indegree=10, or a pair of arrays'
            )
        else:
            made["rule"], made["file"] = "edges", f"projection-{number}.arrows"
            columns = {"source": np.asarray(rule[0]), "target": np.asarray(rule[1])}
            for key, value in keys.items():
                if key in ("weight", "delay", "port") and isinstance(value, (np.ndarray, list)):
                    column = np.asarray(value)
                    columns["delay_ms" if key == "delay" and column.dtype.kind == "f" else key] = column
                elif key == "plasticity" and isinstance(value, Mapping):
                    made[key] = dict(value)
                    for name, start in value.items():
                        if isinstance(start, np.ndarray):  # a number for each synapse
                            columns[f"start_{name}"] = start
                            made[key][name] = f"column({made['file']}, start_{name})"
                else:
                    made[key] = value
            self.files[made["file"]] = _arrow.stream(_checked(columns, len(columns["source"]), f"projection {number}"))
        self.genome["projections"].append(_plain(made))
        self._projections += 1
        return number

    def connect_table(self, table: Any) -> range:
        """Adds a projection for each row of a table, and returns their numbers."""
        if _is_table(table):
            rows = int(_pyarrow(table).num_rows)
            file, content = f"table-{self._projections}.arrows", _arrow_table(table)
        else:
            columns = {str(n): list(c) for n, c in table.items()}
            rows = len(next(iter(columns.values()), ()))
            if any(len(c) != rows for c in columns.values()):
                raise UsageError(f"a table with columns of {sorted({len(c) for c in columns.values()})} rows, want one")
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows([_field(x) for x in row] for row in zip(*columns.values(), strict=True))
            file, content = f"table-{self._projections}.csv", text.getvalue().encode()
        self.files[file] = content
        self.genome["projections"].append({"file": file})
        first, self._projections = self._projections, self._projections + rows
        return range(first, first + rows)

    def file(self, path: str | os.PathLike[str]) -> str:
        """Takes a file into the genome's folder, and gives its name there."""
        found = Path(path).absolute()
        if not found.is_file():
            raise FileError(f"{path}: there is no such file")
        if self.files.get(found.name, found) != found:
            raise UsageError(f"{path}: there is another file {found.name}, want one with another name")
        self.files[found.name] = found
        return found.name

    def record(self, keys: Mapping[str, Any]) -> None:
        """Sets what is recorded."""
        self.genome["record"] = {**self.genome.get("record", {}), **_plain(keys)}

    def stimulate(self, area: Area | str, keys: Mapping[str, Any]) -> int:
        """Adds a stimulus and returns its number."""
        to = {"to": {"area": name_of(area), "port": keys["port"]}} if "port" in keys else {"area": name_of(area)}
        more = {k.removesuffix("_"): v for k, v in keys.items() if k != "port"}
        self.genome["stimuli"].append(_plain({**to, **more}))
        return len(self.genome["stimuli"]) - 1

    def _trains(self, path: str, name: str, spikes: Any) -> str:
        """Makes the file of an area's spikes, of a table or of arrays of neurons and of bursts, a spike each."""
        if _is_table(spikes):
            self.files[path] = _arrow_table(spikes)
            return path
        columns = {n: np.asarray(x) for n, x in zip(("neuron", "burst"), spikes, strict=True)}
        columns = {n: c if c.size else c.astype("<u4") for n, c in columns.items()}
        _checked(columns, columns["neuron"].size, f"area {name!r}, spikes")
        if any(c.dtype.kind == "f" for c in columns.values()):
            kinds = " and ".join(str(c.dtype) for c in columns.values())
            raise UsageError(f"area {name!r}: spikes of {kinds}, want whole numbers of neurons and of bursts")
        self.files[path] = _arrow.stream(columns)
        return path

    def write(self, folder: Path) -> Path:
        """Writes the genome and its files, and gives the genome's path."""
        for name, content in self.files.items():
            if isinstance(content, Path):
                shutil.copyfile(content, folder / name)
            else:
                (folder / name).write_bytes(content)
        return write_genome(folder, self.genome)


def write_genome(folder: Path, genome: Mapping[str, Any]) -> Path:
    """Writes a genome: burst's as YAML, where a list has a line for each key of an element; FEAGI's as JSON."""
    if "burst" not in genome:
        path = folder / "genome.json"
        path.write_text(json.dumps(genome, default=_foreign), encoding="utf-8")
        return path
    lines = []
    for key, value in genome.items():
        if not isinstance(value, list) or not all(isinstance(x, Mapping) and x for x in value) or not value:
            lines.append(f"{_text(key)}: {_text(value)}\n")
            continue
        lines.append(f"{_text(key)}:\n")
        lines.extend("- " + "  ".join(f"{_text(k)}: {_text(v)}\n" for k, v in x.items()) for x in value)
    path = folder / "genome.yaml"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def _text(value: Any) -> str:
    """A value as JSON, which is YAML, too, if it is written without halves of characters."""
    return json.dumps(value, ensure_ascii=False, default=_foreign)


def _foreign(value: Any) -> Any:
    """What is not Python's own as JSON has it."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise UsageError(f"{value!r} in a genome, want numbers, texts, lists and mappings")


def _checked(columns: dict[str, npt.NDArray[Any]], rows: int, whose: str) -> dict[str, npt.NDArray[Any]]:
    """Columns of numbers, of one length; floats that Arrow or the program does not take become float64."""
    for name, column in columns.items():
        if column.shape != (rows,):
            raise UsageError(f"{whose}: {name} has shape {column.shape}, want ({rows},)")
        if column.dtype.kind not in "iuf":
            raise UsageError(f"{whose}: {name} has dtype {column.dtype}, want numbers")
        if column.dtype.kind == "f" and column.dtype.itemsize not in (4, 8):
            columns[name] = column.astype(np.float64)
    return columns


def _csv(columns: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """A CSV file of columns, each number so that it is read back as the same float32."""
    texts = (
        map(repr, c.astype(np.float64).tolist()) if c.dtype.kind == "f" else map(str, c.tolist())
        for c in columns.values()
    )
    return "\n".join([",".join(columns), *map(",".join, zip(*texts, strict=True)), ""]).encode()


def _field(x: Any) -> str:
    """A value as CSV has it; None is an empty field."""
    x = _plain(x)
    if x is None:
        return ""
    return x if isinstance(x, str) else json.dumps(x)


def _is_table(x: Any) -> bool:
    """Whether something gives Arrow's columns, as tables of pyarrow, pandas, polars and DuckDB do."""
    return hasattr(x, "__arrow_c_stream__")


def _pyarrow(table: Any) -> Any:
    """A table as one of pyarrow."""
    import pyarrow as pa

    return pa.table(table)


def _arrow_table(table: Any) -> bytes:
    """A table as an Arrow stream."""
    import pyarrow as pa

    read = _pyarrow(table)
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, read.schema) as stream:
        stream.write_table(read)
    content: bytes = out.getvalue().to_pybytes()
    return content


def _plain(value: Any) -> Any:
    """A value as JSON has it; whole floats are written as whole numbers."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, Area):
        return value.name
    return value
