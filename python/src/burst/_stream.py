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
    rows: int


class Stream:
    """The stream `base`.arrows, of which each read takes only what is new.

    Checksums are not looked at: this is for folders of one's own. What one opens, the program checks.
    """

    def __init__(self, base: Path) -> None:
        self._base = base
        self._forget()

    def _forget(self) -> None:
        self._listed = 0  # bytes of the list that are read
        self._rows = 0
        self._bursts, self._counts = _Growing("<u8"), _Growing("<i8")
        self._columns: dict[str, _Growing] = {}

    def read(self) -> Recorded | None:
        """All rows that are on disk now, which `base`.sums lists; None where there is no such list, or it is empty.

        Raises:
            DamagedError: the stream is not what its list says.

        """
        path = self._base.with_suffix(".arrows")
        try:
            with open(self._base.with_suffix(".sums"), "rb") as f:
                f.seek(self._listed)
                lines = f.read()
            lines = lines[: lines.rfind(b"\n") + 1]  # a line without an end is being written
            marks = _marks(lines.decode(), self._listed == 0)
            if marks:
                with open(path, "rb", buffering=0) as f:
                    self._take(f, marks)
            self._listed += len(lines)
        except FileNotFoundError:
            return None
        except (ValueError, IndexError, struct.error) as e:
            self._forget()
            raise DamagedError(f"{path}: is not as its list of chunks says: {e}") from e
        if not self._columns:
            return None
        columns = {name: column.whole() for name, column in self._columns.items()}
        return Recorded(self._bursts.whole(), self._counts.whole(), columns, self._rows)

    def _take(self, f: BinaryIO, marks: list[list[int]]) -> None:
        """Reads the chunks that marks list."""
        rows = sum(m[2] for m in marks)
        parts = {name: column.more(rows) for name, column in self._columns.items()}
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
                    self._columns = {name: _Growing(kind) for name, kind in kinds.items() if name != "burst"}
                    parts = {name: column.more(rows) for name, column in self._columns.items()}
                else:
                    batch = message, body
            if batch is None or batch[0].number(1, "<B") != _BATCH or batch[0].table(2).place(3):
                raise ValueError(f"the chunk at byte {offset} is no batch that burst writes")
            places = [(batch[1] + start, length) for start, length in batch[0].table(2).pairs(2)]
            # Buffers: of bursts validity and values; of a list validity and offsets, then validity and values inside.
            numbers = np.frombuffer(_bytes(f, *places[1]), "<u8")
            if len(numbers) == 0 or (numbers[0], numbers[-1]) != (first, last) or len(places) != 4 * len(parts) + 2:
                raise ValueError(f"the chunk at byte {offset} is not of bursts {first} to {last}")
            ends = np.frombuffer(_bytes(f, *places[3]), "<i8")
            for k, column in enumerate(parts.values()):
                start, length = places[4 * k + 5]
                part = column[have : have + n]
                if length != part.nbytes or len(ends) != len(numbers) + 1 or ends[-1] != n:
                    raise ValueError(f"the chunk at byte {offset} has not {n} rows")
                _into(f, start, part.data.cast("B"))
            self._bursts.more(len(numbers))[:] = numbers
            self._counts.more(len(numbers))[:] = np.diff(ends)
            have += n
        self._rows += rows


class _Growing:
    """An array that grows at its end; what was taken of it stays as it is."""

    def __init__(self, kind: npt.DTypeLike) -> None:
        self._room = np.empty(0, kind)
        self._used = 0

    def more(self, n: int) -> Column:
        """Room for n more numbers, to be written."""
        used, self._used = self._used, self._used + n
        if self._used > len(self._room):
            before = self._room
            self._room = np.empty(max(self._used, 2 * used), before.dtype)
            self._room[:used] = before[:used]
        return self._room[used : self._used]

    def whole(self) -> Column:
        """All numbers, read-only."""
        found = self._room[: self._used]
        found.flags.writeable = False
        return found


def _marks(text: str, begins: bool) -> list[list[int]]:
    """Of each chunk its place, bytes, rows, first and last burst. A list begins with the names of these."""
    lines = text.splitlines()
    if begins and lines and lines.pop(0) != _HEAD:
        raise ValueError(f"the list does not begin with {_HEAD!r}")
    return [[int(x) for x in line.split(",")[:5]] for line in lines]


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
