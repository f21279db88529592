"""Sweeps: runs of a network with many values, seeds and trials, in one table."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _program, _units
from ._folder import Picture, Run, Scratch
from ._options import of_keywords
from ._process import source_of
from ._progress import Progress
from .errors import DamagedError, FileError, UsageError, of_status
from .network import Network

if TYPE_CHECKING:
    import pandas
    import pyarrow

_TEXTS = ("digest", "weight_digest", "error")
_LOOK_SECONDS = 0.2  # from one look at how far it is to the next

Values = Sequence[Any] | npt.NDArray[Any] | str


class SweepWarning(UserWarning):
    """Some points of a sweep have failed; Sweep.errors says why."""


class Maps:
    """Heat maps of a sweep over values of the genome: means over seeds and trials; notebooks show them.

    The last values go to the right, the others upwards. Over one path the map has a row for each area, and no area is
    named.
    """

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep

    def rate(self, area: str | None = None) -> Picture:
        """The mean rate of an area's neurons, in Hz."""
        return self._map("rate", area)

    def cv(self, area: str | None = None) -> Picture:
        """The CV of intervals."""
        return self._map("cv", area)

    def synchrony(self, area: str | None = None) -> Picture:
        """Golomb's chi."""
        return self._map("synchrony", area)

    def _map(self, figure: str, area: str | None) -> Picture:
        drawn = {
            p.stem.removeprefix(f"{figure}-") if p.stem != figure else None: p
            for p in sorted(self._sweep.folder.glob(f"{figure}*.png"))
        }
        wanted = None if area is None else "".join("-" if c in '/\\:*?"<>| ' else c for c in area)
        if wanted not in drawn:
            there = ", ".join(x or "that of all areas" for x in drawn) or "none, as over seeds and trials alone"
            raise UsageError(f"no map of {area or 'all areas'}; there are: {there}")
        return Picture(drawn[wanted].read_bytes())


class Sweep:
    """The runs of a sweep, read from its folder: a row for each point. docs/sweeps.md has the columns.

    Attributes:
        folder: of the sweep.
        axes: the values of the genome that vary: for each axis its paths, and its values as texts.

    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Opens the folder of a sweep, of this package or of `burst run`."""
        self.folder = Path(folder)
        self._keep: object = None
        path = self.folder / "sweep.json"
        try:
            self._sheet = json.loads(path.read_text(encoding="utf-8"))
            self.axes = [(tuple(a["paths"]), list(a["values"])) for a in self._sheet["plan"]["axes"]]
        except OSError as e:
            raise FileError(f"{path}: {e.strerror}; want the folder of a sweep") from e
        except (ValueError, LookupError, TypeError) as e:
            raise DamagedError(f"{path}: is no sheet of a sweep: {e}") from e

    @cached_property
    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        path = self.folder / "sweep.csv"
        try:
            with path.open(newline="", encoding="utf-8") as f:
                names, *rows = csv.reader(f)
        except OSError as e:
            raise FileError(f"{path}: {e.strerror}; a sweep that was killed has no table, `resume` makes it") from e
        return {n: _column(n, c) for n, c in zip(names, zip(*rows, strict=True), strict=True)} if rows else {}

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def __iter__(self) -> Iterator[Any]:
        raise TypeError('a sweep is a table of columns, such as sweep["E rate_hz"]')

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """A column, such as "E rate_hz": numbers, of which an empty one is NaN, or texts."""
        if name not in self._columns:
            raise KeyError(f"no column {name!r}, want one of {', '.join(self._columns)}")
        return self._columns[name]

    def grid(self, name: str) -> npt.NDArray[np.float64]:
        """A column as an array with an axis for each of `axes`: means over seeds and trials, NaN where there are none.

        Points that have failed are left out.
        """
        shape = [len(values) for _, values in self.axes]
        cells = prod(shape)
        whole = self["error"] == ""
        column = self[name].astype(np.float64)
        good = whole & ~np.isnan(column)
        cell = ((self["point"] - 1) // max(1, self._points // cells))[good]
        n = np.bincount(cell, minlength=cells)
        total = np.bincount(cell, column[good], cells)
        means: npt.NDArray[np.float64] = np.divide(total, n, out=np.full(cells, np.nan), where=n > 0)
        return means.reshape(shape)

    @property
    def _points(self) -> int:
        plan = self._sheet["plan"]
        return (
            prod(len(v) for _, v in self.axes) * max(1, len(plan.get("seeds") or ())) * max(1, plan.get("trials") or 0)
        )

    @property
    def complete(self) -> bool:
        """Whether all points have been run, and none has failed."""
        return bool(self._sheet["complete"])

    @property
    def errors(self) -> dict[int, str]:
        """The points that have failed, by their numbers, with what is said of them."""
        return {int(n): str(e) for n, e in zip(self["point"], self["error"], strict=True) if e} if len(self) else {}

    def run(self, point: int) -> Run:
        """The run of a point, by its number from 1."""
        (row,) = np.flatnonzero(self["point"] == point) if len(self) else ((),)
        plan = self._sheet["plan"]
        if self.axes or (plan.get("seeds") and plan.get("trials")):
            name = f"point-{point}"
        elif plan.get("trials"):
            name = f"run-seed-{self['run_seed'][row]}"
        else:
            name = f"seed-{self['seed'][row]}"
        return Run(self.folder / name)

    @property
    def plot(self) -> Maps:
        """Heat maps, such as sweep.plot.rate("E")."""
        return Maps(self)

    def resume(self, *, progress: bool | None = None) -> Sweep:
        """Runs the points that are left after a stop or a kill, and those that have failed."""
        made = _through(["resume", os.fspath(self.folder), "--json"], self.folder, progress)
        made._keep = self._keep
        return made

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame with the columns. It needs pandas."""
        import pandas

        return pandas.DataFrame(self._columns)

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table with the columns. It needs pyarrow."""
        import pyarrow

        return pyarrow.table(self._columns)

    def __repr__(self) -> str:
        state = "complete" if self.complete else "not complete"
        return f"<sweep of {self._sheet['genome']} in {self.folder}: {state}, {self._points:,} points>"


def sweep(
    source: Network | str | os.PathLike[str] | Mapping[str, Any],
    values: Mapping[str | tuple[str, ...], Values] | None = None,
    length: int | str | None = None,
    *,
    seeds: range | None = None,
    trials: int = 0,
    settle: str | None = None,
    bin_ms: float = 5.0,
    jobs: int = 0,
    **options: Any,
) -> Sweep:
    """Runs a network with each of several values, seeds and trials, and waits for all of it (docs/sweeps.md).

    Ctrl-C stops it; with `out` the folder is kept, and burst.Sweep(folder).resume() goes on.

    Args:
        source: what burst.load takes, or a Network, which is left as it is.
        values: for each path of the genome, such as "areas.E.params.tau", its values: numbers, or texts with a unit,
            or one text such as "1 mV..5 mV/9". Several paths give a grid; a tuple of paths has one value for all.
        length: bursts, or simulated time such as "1 s"; the genome's unless given.
        seeds: of wiring and random input, such as range(1, 9).
        trials: how many run seeds; the network is built once for them.
        settle: simulated time that figures leave out at the beginning of each run, such as "200 ms".
        bin_ms: width of the bins behind synchrony.
        jobs: points that run beside each other; 0: one on each thread; on a GPU one, or of trials as many as suit it.
        options: see Options; of a Network, in place of its own. The folder is temporary unless `out` names it.

    Returns:
        The table. Where some points have failed there is a SweepWarning; `errors` says more.

    Raises:
        BurstError: nothing could be run, or all points have failed, with the error of the first.

    """
    chosen = of_keywords(options)
    net = Network()
    if isinstance(source, Network):
        net._options = replace(source._options, **({"out": None} | options))
        net._builder, net._source = source._builder, source._source
    else:
        net._options = chosen
        net._builder = None
        net._source = source_of(source)
    o = net._options
    if o.out is False:
        raise UsageError("a sweep with out=False, want a folder, or None for a temporary one")
    scratch = Scratch(net)
    folder = scratch.path / "sweep" if o.out is None else Path(o.out)
    axes = {",".join([p] if isinstance(p, str) else p): _texts(p, v) for p, v in (values or {}).items()}
    flags = [f"--sweep={path}={text}" for path, text in axes.items()]
    if seeds is not None:
        if seeds.step != 1 or len(seeds) == 0:
            raise UsageError(f"seeds {seeds}, want seeds that follow each other, such as range(1, 9)")
        flags.append(f"--seeds={seeds[0]}..{seeds[-1]}")
    if trials:
        flags.append(f"--trials={trials}")
    if not flags:
        raise UsageError("a sweep over nothing, want values, seeds or trials")
    if isinstance(length, str):
        flags.append(f"--duration={_units.compact(length)}")
    elif length is not None:
        flags.append(f"--bursts={length}")
    if settle is not None:
        flags.append(f"--settle={_units.compact(settle)}")
    flags += [f"--bin={bin_ms}", f"--jobs={jobs}", f"--out={folder}", "--json"]
    made = _through(["run", str(_genome(net, folder)), *o.flags(), *flags], folder, o.progress)
    if o.out is None:
        made._keep = net  # whose end removes the folder
    return made


def _genome(net: Network, folder: Path) -> str | Path:
    """The genome's path. Files of a network that was built stay beside a folder that stays."""
    if net._builder is None or not net._builder.files or net._options.out is None:
        return net._genome()
    beside = folder.with_name(folder.name + "-genome")
    beside.mkdir(parents=True)
    return net._builder.write(beside)


def _texts(path: str | tuple[str, ...], values: Values) -> str:
    """Values as the command line takes them."""
    if isinstance(values, str):
        return values
    found = [_text(v) for v in (values.tolist() if isinstance(values, np.ndarray) else values)]
    if not found:
        raise UsageError(f"{path}: no values, want at least one")
    return ",".join(found)


def _text(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, str) else json.dumps(value)


def _through(arguments: list[str], folder: Path, progress: bool | None) -> Sweep:
    """Has the program run a sweep to its end, and opens it."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            [_program.find(), *arguments, "--stop-with-stdin"],
            stdin=subprocess.PIPE,  # which ends with this process, however that ends
            stdout=out,
            stderr=err,
            start_new_session=True,  # Ctrl-C is for this process, which then stops it
        )
        try:
            with Progress(0, progress, "points") as shown:
                while _runs(process):
                    if not shown.shown or not (folder / "sweep.json").exists():
                        continue
                    shown.total = shown.total or Sweep(folder)._points
                    done = sum(1 for _ in folder.glob("*/point.json"))
                    if done:
                        shown.show(done)
        finally:
            assert process.stdin is not None
            process.stdin.close()  # which stops it, unless it has ended
            process.wait()
        err.seek(0)
        text = err.read().decode(errors="replace")
    _program.repeat_warnings(text)
    if process.returncode == 0:
        return Sweep(folder)
    found = Sweep(folder) if (folder / "sweep.csv").exists() else None
    if found is None or not 0 < len(found) == found._points > len(found.errors):
        raise of_status(process.returncode, text)
    warnings.warn(
        f"{len(found.errors)} of {len(found)} points have failed: {next(iter(found.errors.values()))}",
        SweepWarning,
        stacklevel=3,
    )
    return found


def _runs(process: subprocess.Popen[bytes]) -> bool:
    """Waits for the end of the program for a while, and tells whether it still runs."""
    try:
        process.wait(_LOOK_SECONDS)
    except subprocess.TimeoutExpired:
        return True
    return False


def _column(name: str, texts: Sequence[str]) -> npt.NDArray[Any]:
    """A column of the table: whole numbers, numbers or texts."""
    if name not in _TEXTS:
        for kind in (np.int64, np.uint64, np.float64):
            try:
                return np.array([x or "nan" for x in texts] if kind is np.float64 else texts).astype(kind)
            except (ValueError, OverflowError):
                continue
    return np.array(texts)
