"""Inputs and outputs of a network, and how their values lie in frames (docs/live.md)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ._builder import Area, name_of
from ._folder import Scratch
from .errors import UsageError

Value = npt.ArrayLike | tuple[npt.ArrayLike, npt.ArrayLike]
Kind = Literal["counts", "fired", "rate", "potentials"]
KINDS: list[str] = ["counts", "fired", "rate", "potentials"]

_AMOUNTS = struct.Struct("<HHI")
_COUNT = struct.Struct("<I")
_DENSE, _SPARSE, _SERIES = 0, 1, 2
_F4, _U4 = np.dtype("<f4"), np.dtype("<u4")


@dataclass(frozen=True, eq=False)
class Input:
    """An input of a network: step and run take an amount for each of its `entries`, in the unit of the area's input."""

    owner: Scratch = field(repr=False)
    area: str
    handle: int
    entries: int
    head: bytes = field(init=False, repr=False)  # of an amount for each entry

    def __post_init__(self) -> None:
        object.__setattr__(self, "head", _AMOUNTS.pack(self.handle, _DENSE, self.entries))


@dataclass(frozen=True, eq=False)
class Output:
    """An output of a network, which step reads."""

    owner: Scratch = field(repr=False)
    area: str
    kind: str
    handle: int
    entries: int
    numbers: int = field(init=False, repr=False)  # that it tells at a time, unless it tells what has fired
    dtype: np.dtype[Any] = field(init=False, repr=False)  # of these

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", 1 if self.kind == "rate" else self.entries)
        object.__setattr__(self, "dtype", _U4 if self.kind in ("counts", "fired") else _F4)


def place(area: Area | str, neurons: Iterable[int] | None, voxels: Iterable[Sequence[int]] | None) -> dict[str, Any]:
    """Where an input or output is, as a frame has it."""
    found: dict[str, Any] = {"area": name_of(area)}
    if neurons is not None:
        found["neurons"] = _whole(area, "neurons", neurons, 1)
    if voxels is not None:
        found["voxels"] = _whole(area, "voxels", voxels, 2)
    return found


def _whole(area: Area | str, what: str, given: Any, axes: int) -> Any:
    """Neurons, or voxels of three numbers each, as a frame has them."""
    found = np.asarray(given if isinstance(given, np.ndarray) else list(given) if np.iterable(given) else given)
    if found.dtype == bool:
        raise UsageError(f"{what} of area {name_of(area)!r} are a mask, want numbers, as np.flatnonzero(mask) gives")
    shape = found.shape[:1] if axes == 1 else (*found.shape[:1], 3)
    if found.size > 0 and (
        found.dtype.kind not in "ui" or found.shape != shape or found.ndim != axes or found.min() < 0
    ):
        want = (
            "whole numbers from 0, such as [0, 7]"
            if axes == 1
            else "x, y and z of each, such as [[0, 0, 0], [3, 1, 0]]"
        )
        raise UsageError(f"{what} {given} of area {name_of(area)!r}, want {want}")
    if found.ndim == 0:
        raise UsageError(f"{what} {given} of area {name_of(area)!r}, want a list of them")
    return found.tolist()


def amounts(owner: Scratch, to: Input, value: Value) -> bytes:
    """An input's part of a step."""
    if (
        type(value) is np.ndarray
        and type(to) is Input
        and value.dtype is _F4
        and value.shape == (to.entries,)
        and to.owner is owner
    ):
        return to.head + value.tobytes()  # as is mostly the case
    _check(owner, to)
    if isinstance(value, tuple):
        if len(value) != 2:
            raise UsageError(f"input {to.area!r}: a tuple of {len(value)}, want a pair, entries and amounts")
        at, given = np.ascontiguousarray(value[0]), _numbers(to, value[1])
        if given.shape != at.shape or given.ndim != 1:
            raise UsageError(
                f"input {to.area!r}: amounts of shape {given.shape}, want {at.shape}, a list as entries are"
            )
        if at.size > 0 and (at.dtype.kind not in "ui" or at.min() < 0 or at.max() >= to.entries):
            raise UsageError(f"input {to.area!r}: entries {at}, want whole numbers below {to.entries}, ascending")
        return _AMOUNTS.pack(to.handle, _SPARSE, len(given)) + at.astype(_U4).tobytes() + given.tobytes()
    given = _numbers(to, value)
    if given.shape != (to.entries,):
        how = ", as ravel() of an array [x, y, z] gives" if given.size == to.entries > 1 else ""
        raise UsageError(f"input {to.area!r}: amounts of shape {given.shape}, want {(to.entries,)}{how}")
    return to.head + given.tobytes()


def _numbers(to: Input, value: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Amounts as frames have them."""
    given = np.asarray(value)
    if given.dtype.kind not in "buif":
        raise UsageError(f"input {to.area!r}: amounts of dtype {given.dtype}, want numbers")
    return np.ascontiguousarray(given, _F4)


def mapping(inputs: Any) -> None:
    """Refuses what does not say which input its amounts are for."""
    if not isinstance(inputs, Mapping):
        raise UsageError(f"inputs are a {type(inputs).__name__}, want a mapping, such as {{eye: amounts}}")


def _check(owner: Scratch, to: Input) -> None:
    if not isinstance(to, Input) or to.owner is not owner:
        raise UsageError(f"{to!r} is no input of this network, want one that net.input gave")


class Feed:
    """What a run is given: amounts that hold, and series, which have some for each burst."""

    def __init__(self, owner: Scratch, bursts: int, inputs: Mapping[Input, Value]) -> None:
        self.held: list[bytes] = []
        self.series: list[tuple[bytes, npt.NDArray[np.float32]]] = []
        mapping(inputs)
        for to, value in inputs.items():
            if isinstance(value, tuple) or np.ndim(value) != 2:
                self.held.append(amounts(owner, to, value))
                continue
            _check(owner, to)
            rows = _numbers(to, value)
            if rows.shape != (bursts, to.entries):
                raise UsageError(f"input {to.area!r}: a series of shape {rows.shape}, want {(bursts, to.entries)}")
            self.series.append((_AMOUNTS.pack(to.handle, _SERIES, to.entries), rows))
        self.bytes = sum(rows.itemsize * rows.shape[1] for _, rows in self.series)  # of a burst

    def __len__(self) -> int:
        return len(self.held) + len(self.series)

    def part(self, start: int, n: int) -> tuple[int, bytes]:
        """How many inputs are set in n bursts from one on, and their bytes. What holds is set before the first."""
        parts = self.held if start == 0 else []
        parts = parts + [head + rows[start : start + n].tobytes() for head, rows in self.series]
        return len(parts), b"".join(parts)


def results(outputs: Sequence[Output], answer: bytes, at: int) -> dict[Output, npt.NDArray[Any]]:
    """The results in the answer to a step, which begin at a place of it."""
    found: dict[Output, npt.NDArray[Any]] = {}
    for o in outputs:
        (n,) = _COUNT.unpack_from(answer, at + 4)
        found[o] = np.frombuffer(answer, o.dtype, n, at + 8)
        at += 8 + 4 * n
    return found


def handles(outputs: Sequence[Output]) -> bytes:
    """The end of a step that names outputs to be told of each burst."""
    packed = np.array([o.handle for o in outputs], "<u2").tobytes()
    return packed + bytes(len(packed) % 4)
