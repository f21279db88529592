"""Recordings as columns."""

from __future__ import annotations

import os
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _program
from ._builder import Area, name_of
from ._stream import Column, Recorded
from .errors import DamagedError, UsageError

if TYPE_CHECKING:
    import pandas
    import pyarrow


class Table:
    """Rows of a recording, sorted by burst, then neuron. Columns are attributes: read-only arrays of equal length.

    `burst` (uint64), `neuron` (uint32; the id in the whole network, of an area's rows the number in the area), `area`
    (uint32; a place in `area_names`), where areas are grids `x`, `y` and `z` (uint32; a voxel of the area), where areas
    have positions `x_um`, `y_um` and `z_um` (float64; NaN in areas without), and what else the recording has, such as
    `potential` (float32), or `variable` (uint32; a place in `variable_names`) and `value` (float32).
    """

    def __init__(
        self,
        columns: Mapping[str, Column | Callable[[], Column]],
        runs: tuple[Column, Column],
        rows: int,
        manifest: Mapping[str, Any],
    ) -> None:
        self._columns = dict(columns)
        self._runs = runs  # bursts, and how many rows each has
        self._rows = rows
        self._manifest = manifest
        self._first = 0  # the neuron that `neuron` counts from
        self.area_names: list[str] = [a["name"] for a in manifest["areas"]]
        self.variable_names: list[str] = manifest.get("variables", [])
        self.timestep_ms = float(manifest["timestep_ms"])

    def __len__(self) -> int:
        return self._rows

    def __getattr__(self, name: str) -> Column:
        columns = self.__dict__.get("_columns", {})
        if name not in columns:
            raise AttributeError(f"no column {name!r}, want one of {', '.join([*columns, 'time_ms'])}")
        made = columns[name]
        found: Column = made() if callable(made) else made
        columns[name] = found
        found.flags.writeable = False
        return found

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.columns]

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.__dict__.get("_columns", ()))

    @cached_property
    def time_ms(self) -> npt.NDArray[np.float64]:
        """When it happened: the end of the burst, (burst + 1)·timestep."""
        bursts, counts = self._runs
        time = np.repeat(np.add(bursts, 1, dtype=np.float64) * self.timestep_ms, counts)
        time.flags.writeable = False
        return time

    def __getitem__(self, area: Area | str) -> Table:
        """The rows of an area, copied; `neuron` counts from 0 in it."""
        if not isinstance(area, (Area, str)):
            raise TypeError(
                f"rows by {type(area).__name__}, want an area or its name; rows are of columns: .neuron[rows]"
            )
        area = name_of(area)
        if area not in self.area_names:
            raise KeyError(f"no area {area!r}, want one of {', '.join(self.area_names)}")
        k = self.area_names.index(area)
        if "area" not in self._columns:
            raise TypeError("rows of projections, which are of no area")
        first, n = self._manifest["areas"][k]["first"], self._manifest["areas"][k]["neurons"]
        ahead = np.uint32((first - self._first) % 2**32)
        pieces = (self.neuron[at : at + _PIECE] - ahead < n for at in range(0, self._rows, _PIECE))
        mine = [at * _PIECE + np.flatnonzero(piece) for at, piece in enumerate(pieces)]  # ids below the first are large
        rows = np.concatenate(mine) if mine else np.empty(0, np.int64)
        chosen = {name: getattr(self, name)[rows] for name in self.columns if name not in ("burst", *_TOLD)}
        chosen["neuron"] += np.uint32(self._first)
        bursts, counts = self._runs
        counts = np.diff(np.searchsorted(rows, np.cumsum(counts)), prepend=0)
        found = _lazy((bursts[counts > 0], counts[counts > 0]), chosen, len(rows), self._manifest)
        found._columns["neuron"] = chosen["neuron"] - np.uint32(first)
        found._columns["area"] = np.full(len(rows), k, "<u4")
        found._first = first
        return found

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a recording is a table of columns, such as .burst and .neuron")

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame with the columns, of which `area` and `variable` have names. It needs pandas."""
        import pandas

        frame = pandas.DataFrame({n: getattr(self, n) for n in self.columns if n not in self._words()})
        for n, words in self._words().items():
            frame[n] = pandas.Categorical.from_codes(getattr(self, n).astype(np.int64), words)
        return frame

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table of the same memory, in which `area` and `variable` have names. It needs pyarrow."""
        import pyarrow

        arrays = {n: pyarrow.array(getattr(self, n)) for n in self.columns if n not in self._words()}
        for n, words in self._words().items():
            arrays[n] = pyarrow.DictionaryArray.from_arrays(pyarrow.array(getattr(self, n)), words)
        return pyarrow.table(arrays)

    def _words(self) -> dict[str, list[str]]:
        """The columns of words, with what they may say."""
        words = {"area": self.area_names, "variable": self.variable_names}
        return {n: of for n, of in words.items() if n in self._columns}

    def __repr__(self) -> str:
        return f"<{len(self):,} rows of {', '.join(self.columns)}>"


# So many rows are looked at together, so that what is made of them stays in the processor's caches.
_PIECE = 1 << 18

# The columns that neurons tell.
_TOLD = ("area", "x", "y", "z", "x_um", "y_um", "z_um")


def table_of(found: Recorded, manifest: Mapping[str, Any]) -> Table:
    """What was recorded as a table."""
    return _lazy((found.bursts, found.counts), found.columns, found.rows, manifest)


def _lazy(runs: tuple[Column, Column], stored: Mapping[str, Column], rows: int, manifest: Mapping[str, Any]) -> Table:
    """A table of the columns that are stored, and of bursts and what neurons tell, made when they are looked at."""
    columns: dict[str, Column | Callable[[], Column]] = {"burst": partial(np.repeat, *runs)}
    rest = dict(stored)
    if "neuron" in rest:
        neuron = columns["neuron"] = rest.pop("neuron")
        areas = manifest["areas"]
        columns["area"] = partial(_areas, areas, neuron)
        if any(a["size"][1] > 1 or a["size"][2] > 1 or a["neurons_per_voxel"] > 1 for a in areas):
            columns |= {axis: partial(_voxels, areas, neuron, k) for k, axis in enumerate("xyz")}
        if any("space" in a for a in areas):
            columns |= {f"{axis}_um": partial(_places, areas, neuron, k) for k, axis in enumerate("xyz")}
    return Table({**columns, **rest}, runs, rows, manifest)


def _areas(areas: list[dict[str, Any]], neuron: Column) -> Column:
    """The areas that neurons are of, by their places."""
    ends = np.array([a["first"] + a["neurons"] for a in areas], "<u4")
    return np.searchsorted(ends, neuron, side="right").astype("<u4")


def _voxels(areas: list[dict[str, Any]], neuron: Column, axis: int) -> Column:
    """Where neurons lie along x, y or z: they are numbered along z first, then y, then x."""
    numbers = [[a["first"], max(1, a["neurons_per_voxel"]), *(max(1, n) for n in a["size"])] for a in areas]
    first, each, _, high, deep = np.array(numbers, "<u4")[_areas(areas, neuron)].T
    at = (neuron - first) // each
    found: Column = (at // deep // high, at // deep % high, at % deep)[axis]
    return found


def _places(areas: list[dict[str, Any]], neuron: Column, axis: int) -> Column:
    """Where neurons lie along x, y or z, in um; NaN in areas without positions."""
    found = np.full(len(neuron), np.nan)
    of = _areas(areas, neuron)
    voxel = _voxels(areas, neuron, axis)
    for k, a in enumerate(areas):
        if "space" in a:
            rows = of == k
            found[rows] = along(a, axis, neuron[rows], voxel[rows])
    return found


def along(area: Mapping[str, Any], axis: int, neuron: Column, voxel: Column) -> npt.NDArray[np.float64]:
    """Where neurons of voxels lie along an axis of an area with positions, in um: docs/genome.md has the formula."""
    n, space = max(1, area["size"][axis]), area["space"]
    if "positions_um" in space:
        places = np.array(space["positions_um"], np.float64).reshape(-1, 3)
        each: npt.NDArray[np.float64] = places[neuron - area["first"], axis]
        return each
    odd = 2.0 * voxel.astype(np.float64) + (1 - n)
    at: npt.NDArray[np.float64] = space["center_um"][axis] + space["extent_um"][axis] * odd / (2 * n)
    return at


def positions(manifest: Mapping[str, Any], of: Area | str) -> npt.NDArray[np.float64]:
    """Where the neurons of an area lie: a row of x, y and z in um for each.

    Raises:
        UsageError: there is no such area, or it has no positions.

    """
    areas, name = manifest["areas"], name_of(of)
    area = next((a for a in areas if a["name"] == name), None)
    if area is None:
        raise UsageError(f"no area {name!r}, want one of {', '.join(a['name'] for a in areas)}")
    if "space" not in area:
        raise UsageError(f"area {name!r} has no positions; in its genome `extent` or `positions` gives it some")
    neuron = np.arange(area["first"], area["first"] + area["neurons"], dtype="<u4")
    return np.stack([along(area, axis, neuron, _voxels(areas, neuron, axis)) for axis in range(3)], axis=1)


def checked(folder: str | os.PathLike[str], name: str, manifest: Mapping[str, Any]) -> Table:
    """A recording of any run folder: the program checks its files, and its columns are mapped into memory.

    Raises:
        FileError: there is no such folder.
        DamagedError: a file has changed since the run.
        BurstError: nothing of the kind was recorded.

    """
    with tempfile.TemporaryFile(prefix="burst-") as f:  # what is mapped stays until nobody looks at it
        _program.call("export", os.fspath(folder), "--table", name, "--runs", to=f)
        found = dict(_map(f))
    bursts, counts = found.pop("bursts"), found.pop("counts")
    return table_of(Recorded(bursts, counts, found, int(counts.sum())), manifest)


def _map(f: IO[bytes]) -> Iterator[tuple[str, Column]]:
    """The arrays of an archive whose members are stored as they are."""
    with zipfile.ZipFile(f) as z:
        for member in z.infolist():
            f.seek(member.header_offset + 26)
            name, extra = struct.unpack("<HH", f.read(4))
            f.seek(name + extra, os.SEEK_CUR)
            if member.compress_type != zipfile.ZIP_STORED or np.lib.format.read_magic(f) != (1, 0):
                raise DamagedError(f"{member.filename} is not stored as it is")
            shape, _, kind = np.lib.format.read_array_header_1_0(f)
            if shape and shape[0] > 0:
                array: Column = np.memmap(f, kind, "r", f.tell(), shape)
            else:
                array = np.frombuffer(f.read(kind.itemsize if shape == () else 0), kind).reshape(shape)
            yield member.filename.removesuffix(".npy"), array
