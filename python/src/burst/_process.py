"""The process of a network: what it is made of, how it starts and how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import weakref
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from ._builder import Area, Builder, write_genome
from ._client import Child
from ._folder import Run, Scratch
from ._options import Options
from ._stream import Stream
from ._table import Table
from .errors import EndedError, FileError, UsageError

Self = TypeVar("Self", bound="Process")


class Process:
    """A network as a process: it is made, started, saved and ended."""

    def __init__(self, builder: Builder | None, options: Options) -> None:
        self._options = options
        self._builder = builder
        self._source: str | Mapping[str, Any] = ""
        self._child: Child | None = None
        self._scratch = Scratch(self)
        self._runs = 0
        self._tables: dict[str, tuple[int, Table]] = {}
        self._streams: dict[str, Stream] = {}  # behind these, as far as they are read
        self._digest: bytes | str | None = None  # that of the last answer, or of the end
        self._rates: dict[str, float] = {}
        self._folder: Path | None = None
        self._areas: dict[str, Area] = {}
        self.timestep_ms = 0.0

    def start(self: Self) -> Self:
        """Builds the network and starts its process, as the first run does.

        Raises:
            GenomeError: the genome has mistakes.
            LimitError: it is too large for this machine.
            DeviceError: the backend is not available.
            VersionError: the program is of another version.

        """
        if self._child is not None:
            return self
        genome = self._genome()
        arguments = [str(genome), *self._options.flags()]
        if self._builder is not None and self._builder.files:
            arguments.append("--keep-files")
        self._runs += 1
        if os.path.isfile(os.path.join(genome, "manifest.json")):
            self._folder = Path(genome).absolute()
        elif self._options.out is False:
            arguments.append("--no-out")
        else:
            named = self._options.out if self._runs == 1 else None
            self._folder = Path(named).absolute() if named is not None else self._scratch.path / f"run-{self._runs}"
            arguments.append(f"--out={self._folder}")
        child = Child(arguments)
        weakref.finalize(self, _close, child)
        self._child = child
        self._digest = None
        self.timestep_ms = child.welcome["timestep_ms"]
        self._areas = {
            a["name"]: Area(a["name"], a["neurons"], a["model"], a["first"], tuple(a["size"]))
            for a in child.welcome["areas"]
        }
        return self

    def _genome(self) -> str | Path:
        """What the command line is given."""
        if self._builder is not None:
            return self._builder.write(self._scratch.path)
        if isinstance(self._source, Mapping):
            return write_genome(self._scratch.path, self._source)
        if "\n" in self._source:
            path = self._scratch.path / ("genome.json" if self._source.lstrip().startswith("{") else "genome.yaml")
            path.write_text(self._source, encoding="utf-8")
            return path
        return self._source

    def close(self) -> None:
        """Ends the run and its process. What was recorded can still be read. Only the first call does anything."""
        if self._child is None or self._child.closed:
            return
        with contextlib.suppress(EndedError):
            self._rates = self.rates
        self._child.close()
        self._digest = self._child.digest or self._digest

    def save(self, folder: str | os.PathLike[str]) -> Run:
        """Ends the run and keeps its folder, which holds all that replaying it takes.

        Raises:
            FileError: the folder is there already, or the run was loaded with out=False.

        """
        to = Path(folder)
        if self._options.out is False:
            raise FileError("the run has no folder to save; load it without out=False")
        if to.exists():
            raise FileError(f"{to} is there already, want another folder")
        self.flush()
        self.close()
        to.parent.mkdir(parents=True, exist_ok=True)
        if self._options.out is None or self._runs > 1:
            shutil.move(self.folder, to)
            self._folder = to
        else:
            shutil.copytree(self.folder, to)
        return Run(to)

    def __reduce__(self) -> str:
        raise UsageError(
            "a network is a process, which cannot be copied or pickled; load it where it is needed, or use net.copies"
        )

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _running(self) -> Child:
        self.start()
        assert self._child is not None
        return self._child

    @property
    def rates(self) -> dict[str, float]:
        """The mean rate of each area's neurons in Hz, since the network was started."""
        if self._child is not None and self._child.closed:
            return self._rates or json.loads(self._child.get("/v1/rates"))  # which says how the program has ended
        return {a["name"]: a["hz"] for a in json.loads(self._running().get("/v1/rates"))["areas"]}

    def flush(self) -> None:
        """Returns when what was recorded so far is on disk, in the run's folder."""
        self._running().control("flush")

    @property
    def folder(self) -> Path:
        """The run's folder."""
        if self._options.out is False:
            raise FileError("nothing is recorded; load the network without out=False")
        self.start()
        assert self._folder is not None
        return self._folder


def source_of(given: Any) -> str | Mapping[str, Any]:
    """What a network is loaded from.

    Raises:
        UsageError: it is of another type.

    """
    if isinstance(given, Mapping):
        return given
    if not isinstance(given, (str, os.PathLike)):
        raise UsageError(
            f"a genome of type {type(given).__name__}, want a path, a text, a mapping or an example's name"
        )
    return os.fspath(given)


def _close(child: Child) -> None:
    with contextlib.suppress(Exception):
        child.close()
