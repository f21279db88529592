"""Reads what a run records while it goes on, with NumPy alone: an Arrow stream and the list of its chunks.

A batch of the stream has a row a burst: `burst`, and for each other column a list. The values of all lists lie one
after the other, so a column is read into memory batch by batch, without a look at a single value.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from .errors import DamagedError

Column = npt.NDArray[Any]

_HEAD = "offset,bytes,rows,first_burst,last_burst,xxh64"
# Kinds in Arrow's format/Message.fbs and format/Schema.fbs.
_SCHEMA, _BATCH = 1, 3
_INT, _FLOAT, _LARGE_LIST = 2, 3, 21


@dataclass(frozen=True)
class Recorded:
    """The rows of a recording: `bursts` that have any, how many each has, and the columns but that of bursts."""

    bursts: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.int64]
    columns: dict[str, Column]


def read_stream(base: Path) -> Recorded | None:
    """The rows of `base`.arrows that are on disk now, which `base`.sums lists; None where there is no such list.

    Their checksums are not looked at: this is for folders of one's own. What one opens, the program checks.

    Raises:
        DamagedError: the stream is not what its list says.

    """
    try:
        marks = _marks(base.with_suffix(".sums").read_text())
        if marks is None:
            return None
        with open(base.with_suffix(".arrows"), "rb", buffering=0) as f:
            return _read(f, marks)
    except FileNotFoundError:
        return None
    except (ValueError, IndexError, struct.error) as e:
        raise DamagedError(f"{base.with_suffix('.arrows')}: is not as its list of chunks says: {e}") from e


def _marks(text: str) -> list[list[int]] | None:
    """Of each chunk its place, bytes, rows, first and last burst; a line without an end is being written."""
    lines = text.split("\n")[:-1]
    if lines and lines[0] != _HEAD:
        raise ValueError(f"the list begins with {lines[0][:60]!r}, want {_HEAD!r}")
    return [[int(x) for x in line.split(",")[:5]] for line in lines[1:]] or None


def _read(f: BinaryIO, marks: list[list[int]]) -> Recorded:
    rows = sum(m[2] for m in marks)
    bursts, counts, columns = [], [], {}
    kinds: dict[str, np.dtype[Any]] = {}
    have = 0
    for offset, size, n, first, last in marks:
        at, batch = offset, None
        while at < offset + size:
            mark, length = struct.unpack("<II", _bytes(f, at, 8))
            if mark != 0xFFFFFFFF or length > size:
                raise ValueError(f"no message begins at byte {at}")
            message = _Table.root(_bytes(f, at + 8, length))
            body = at + 8 + length
            at = body + message.number(3, "<q")
            if message.number(1, "<B") == _SCHEMA:
                kinds = _kinds(message.table(2))
                columns = {name: np.empty(rows, kind) for name, kind in kinds.items() if name != "burst"}
            else:
                batch = message, body
        if batch is None or batch[0].number(1, "<B") != _BATCH or batch[0].table(2).place(3):
            raise ValueError(f"the chunk at byte {offset} is no batch that burst writes")
        places = [(batch[1] + start, length) for start, length in batch[0].table(2).pairs(2)]
        # Buffers: of bursts validity and values; of a list validity and offsets, then validity and values inside.
        numbers = np.frombuffer(_bytes(f, *places[1]), "<u8")
        if len(numbers) == 0 or (numbers[0], numbers[-1]) != (first, last) or len(places) != 4 * len(columns) + 2:
            raise ValueError(f"the chunk at byte {offset} is not of bursts {first} to {last}")
        ends = np.frombuffer(_bytes(f, *places[3]), "<i8")
        for k, column in enumerate(columns.values()):
            start, length = places[4 * k + 5]
            part = column[have : have + n]
            if length != part.nbytes or len(ends) != len(numbers) + 1 or ends[-1] != n:
                raise ValueError(f"the chunk at byte {offset} has not {n} rows")
            _into(f, start, part.data.cast("B"))
        bursts.append(numbers)
        counts.append(np.diff(ends))
        have += n
    return Recorded(np.concatenate(bursts), np.concatenate(counts), columns)


def _kinds(schema: _Table) -> dict[str, np.dtype[Any]]:
    """The columns of a schema."""
    kinds = {}
    for field in schema.tables(1):
        name, of = field.text(0), field
        if field.number(2, "<B") == _LARGE_LIST:
            (of,) = field.tables(5)
        elif name != "burst":
            raise ValueError(f"column {name!r} is no list")
        kind, about = of.number(2, "<B"), of.table(3)
        if kind == _INT:
            kinds[name] = np.dtype(f"<{'iu'[not about.number(1, '<B')]}{about.number(0, '<i') // 8}")
        elif kind == _FLOAT:
            kinds[name] = np.dtype(("<f2", "<f4", "<f8")[about.number(0, "<h")])
        else:
            raise ValueError(f"column {name!r} has no numbers")
    return kinds


def _bytes(f: BinaryIO, at: int, n: int) -> bytes:
    into = bytearray(n)
    _into(f, at, memoryview(into))
    return bytes(into)


def _into(f: BinaryIO, at: int, into: memoryview) -> None:
    f.seek(at)
    while into:
        n = f.readinto(into)  # type: ignore[attr-defined]
        if not n:
            raise ValueError(f"it ends {len(into)} bytes early")
        into = into[n:]


class _Table:
    """A table of a FlatBuffer. Fields are named by their places in Arrow's schemas; one that is not there is 0."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at
        self.slots = at - self._get("<i", at)
        self.end = self._get("<H", self.slots)

    @classmethod
    def root(cls, data: bytes) -> _Table:
        return cls(data, struct.unpack_from("<I", data)[0])

    def _get(self, kind: str, at: int) -> int:
        return int(struct.unpack_from(kind, self.data, at)[0])

    def place(self, field: int) -> int:
        slot = 4 + 2 * field
        inside = self._get("<H", self.slots + slot) if slot < self.end else 0
        return self.at + inside if inside else 0

    def number(self, field: int, kind: str) -> int:
        at = self.place(field)
        return self._get(kind, at) if at else 0

    def _follow(self, at: int) -> int:
        return at + self._get("<I", at)

    def table(self, field: int) -> _Table:
        return _Table(self.data, self._follow(self.place(field)))

    def _list(self, field: int) -> tuple[int, int]:
        at = self._follow(self.place(field))
        return at + 4, self._get("<I", at)

    def tables(self, field: int) -> list[_Table]:
        at, n = self._list(field)
        return [_Table(self.data, self._follow(at + 4 * i)) for i in range(n)]

    def pairs(self, field: int) -> list[tuple[int, int]]:
        """A list of two int64 each, such as the places and lengths of buffers."""
        at, n = self._list(field)
        found = struct.unpack_from(f"<{2 * n}q", self.data, at)
        return list(zip(found[::2], found[1::2], strict=True))

    def text(self, field: int) -> str:
        at, n = self._list(field)
        return self.data[at : at + n].decode()
