"""Run folders: what they hold, and pictures of it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _program
from ._builder import Area
from ._table import Table, checked, positions
from .errors import DamagedError, FileError


def manifest_of(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The manifest of a run folder."""
    path = Path(folder) / "manifest.json"
    try:
        found = json.loads(path.read_text())
    except OSError as e:
        want = "burst.Sweep opens a sweep" if path.with_name("sweep.json").exists() else "want a run folder"
        raise FileError(f"{path}: {e.strerror}; {want}, such as runs/quickstart-1") from e
    except ValueError as e:
        raise DamagedError(f"{path}: {e}") from e
    if not isinstance(found, dict):
        raise DamagedError(f"{path}: want an object")
    return found


class Picture:
    """A picture in PNG, which notebooks show. `data` are the file's bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file."""
        Path(path).write_bytes(self.data)

    def _repr_png_(self) -> bytes:
        return self.data


def draw(folder: Path, name: str) -> Picture:
    """Draws a picture of a run folder."""
    scratch = tempfile.mkdtemp(prefix="burst-")
    try:
        path = os.path.join(scratch, "picture.png")
        _program.call("plot", os.fspath(folder), f"--{name}", "-o", path)
        return Picture(Path(path).read_bytes())
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


class Plot:
    """Draws pictures of what was recorded, by the program's own means; notebooks show them."""

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder

    def raster(self) -> Picture:
        """Spikes over time, and the rates of the areas."""
        return draw(self._folder(), "raster")

    def rates(self) -> Picture:
        """The rates of the areas over time."""
        return draw(self._folder(), "rates")

    def isi(self) -> Picture:
        """Histograms of the intervals between spikes."""
        return draw(self._folder(), "isi")

    def rate_histogram(self) -> Picture:
        """Histograms of the neurons' rates."""
        return draw(self._folder(), "rate-histogram")

    def matrix(self) -> Picture:
        """How many synapses lead from area to area."""
        return draw(self._folder(), "matrix")

    def potentials(self) -> Picture:
        """Recorded potentials over time."""
        return draw(self._folder(), "potentials")

    def variables(self) -> Picture:
        """Recorded state variables and inputs over time."""
        return draw(self._folder(), "variables")

    def weights(self) -> Picture:
        """Recorded weights over time."""
        return draw(self._folder(), "weights")


class Run:
    """A run that has ended, read from its folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.manifest = manifest_of(folder)
        self._tables: dict[str, Table] = {}

    def recorded(self, table: str) -> Table:
        """A recording: spikes, potentials, variables, fcl, weights or histograms."""
        if table not in self._tables:
            self._tables[table] = checked(self.folder, table, self.manifest)
        return self._tables[table]

    @property
    def spikes(self) -> Table:
        """The recorded spikes."""
        return self.recorded("spikes")

    def positions(self, area: Area | str) -> npt.NDArray[np.float64]:
        """Where the neurons of an area with an `extent` lie: a row of x, y and z in um for each neuron."""
        return positions(self.manifest, area)

    @property
    def digest(self) -> str:
        """The hash of all spikes, 16 hexadecimal digits; of a run that was killed, empty."""
        return str(self.manifest["digest"])

    @property
    def rates(self) -> dict[str, float]:
        """The mean rate of each area's neurons over the run, in Hz."""
        try:
            lines = (self.folder / "rates.csv").read_text().splitlines()[1:]
        except OSError as e:
            raise FileError(f"{self.folder / 'rates.csv'}: {e.strerror}; a run that was killed has none") from e
        spikes = {a["name"]: 0 for a in self.manifest["areas"]}
        for line in lines:
            _, _, rest = line.split(",", 2)
            area, n, _ = rest.rsplit(",", 2)
            spikes[area] += int(n)
        seconds = self.manifest["bursts"] * self.manifest["timestep_ms"] / 1000
        return {
            a["name"]: spikes[a["name"]] / max(a["neurons"], 1) / seconds if seconds else 0.0
            for a in self.manifest["areas"]
        }

    @property
    def plot(self) -> Plot:
        """Draws pictures, such as run.plot.raster()."""
        return Plot(lambda: self.folder)

    def replay(self) -> str:
        """Runs it all again, with the input that it was given, and gives the digest.

        Raises:
            AssertionFailed: it came out otherwise.

        """
        return _program.call("replay", os.fspath(self.folder), "--quiet").split()[-1]

    def __repr__(self) -> str:
        m = self.manifest
        what = f"{m['status']}, {m['bursts']:,} bursts, digest {m['digest'] or 'none'}"
        return f"<run of {m['genome']} in {self.folder}: {what}>"


def open_run(folder: str | os.PathLike[str]) -> Run:
    """Opens the folder of a run, of this package or of `burst run`."""
    return Run(folder)


class Scratch:
    """A folder that is removed with its owner, in the process that made it."""

    def __init__(self, owner: object) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="burst-"))
        self._end = weakref.finalize(owner, _remove, self.path, os.getpid())

    def close(self) -> None:
        """Removes it now."""
        self._end()


def _remove(path: Path, pid: int) -> None:
    if os.getpid() == pid:
        shutil.rmtree(path, ignore_errors=True)
