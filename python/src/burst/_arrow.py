"""Writes columns of numbers as an Arrow stream, with NumPy alone.

The stream has a schema, one batch of records and an end. Its messages are FlatBuffers of Arrow's format/Message.fbs and
format/Schema.fbs; a table is given as the list of its fields by their places there, None being one that is left out.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_SCHEMA, _BATCH = 1, 3
_INT, _FLOAT = 2, 3
_VERSION = 4  # which is called V5
_PRECISION = {4: 1, 8: 2}

Field = tuple[str, int]  # a number: its kind for struct, and its value
Part = Callable[[bytearray], int]  # appends something to a FlatBuffer, and gives its place


def stream(columns: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """The stream of columns of one length, of whole numbers or of floats of 32 or 64 bits."""
    rows = len(next(iter(columns.values())))
    datas = [c.astype(c.dtype.newbyteorder("<"), copy=False).tobytes() for c in columns.values()]
    ends = np.cumsum([0, *(_padded(len(d)) for d in datas)]).tolist()
    buffers = [pair for d, at in zip(datas, ends, strict=False) for pair in ((at, 0), (at, len(d)))]
    schema = _table([("h", 0), _list([_field(name, c.dtype) for name, c in columns.items()])])
    batch = _table([("q", rows), _pairs([(rows, 0)] * len(datas)), _pairs(buffers)])
    body = [d + bytes(_padded(len(d)) - len(d)) for d in datas]
    end = struct.pack("<II", 0xFFFFFFFF, 0)
    return b"".join([_message(_SCHEMA, schema, 0), _message(_BATCH, batch, ends[-1]), *body, end])


def _padded(n: int) -> int:
    return -(-n // 8) * 8


def _message(kind: int, header: Part, body: int) -> bytes:
    out = bytearray(4)
    at = _table([("h", _VERSION), ("B", kind), header, ("q", body)])(out)
    struct.pack_into("<I", out, 0, at)
    _align(out, 8)
    return struct.pack("<II", 0xFFFFFFFF, len(out)) + out


def _field(name: str, kind: np.dtype[Any]) -> Part:
    if kind.kind == "f":
        about, of = _FLOAT, _table([("h", _PRECISION[kind.itemsize])])
    else:
        about, of = _INT, _table([("i", 8 * kind.itemsize), ("B", int(kind.kind == "i"))])
    return _table([_text(name), ("B", 1), ("B", about), of, None, _list([])])


def _align(out: bytearray, n: int, behind: int = 0) -> None:
    """Fills up with zeros until the byte `behind` further has a place that n divides."""
    out.extend(bytes(-(len(out) + behind) % n))


def _table(fields: Sequence[Field | Part | None]) -> Part:
    def put(out: bytearray) -> int:
        slots, size = [], 4
        for f in fields:
            wide = struct.calcsize("<" + f[0]) if isinstance(f, tuple) else 4
            size = size if f is None else -(-size // wide) * wide
            slots.append(0 if f is None else size)
            size += 0 if f is None else wide
        _align(out, 8, 4 + 2 * len(slots))
        out.extend(struct.pack(f"<HH{len(slots)}H", 4 + 2 * len(slots), size, *slots))
        at = len(out)
        out.extend(struct.pack("<i", 4 + 2 * len(slots)) + bytes(size - 4))
        for f, slot in zip(fields, slots, strict=True):
            if isinstance(f, tuple):
                struct.pack_into("<" + f[0], out, at + slot, f[1])
            elif f is not None:
                _refer(out, at + slot, f)
        return at

    return put


def _refer(out: bytearray, at: int, part: Part) -> None:
    """Appends something, to which the number at a place then leads."""
    struct.pack_into("<I", out, at, part(out) - at)


def _list(parts: Sequence[Part]) -> Part:
    def put(out: bytearray) -> int:
        _align(out, 4)
        at = len(out)
        out.extend(struct.pack("<I", len(parts)) + bytes(4 * len(parts)))
        for k, part in enumerate(parts):
            _refer(out, at + 4 + 4 * k, part)
        return at

    return put


def _pairs(pairs: Sequence[tuple[int, int]]) -> Part:
    """A list of two int64 each."""

    def put(out: bytearray) -> int:
        _align(out, 8, 4)
        at = len(out)
        out.extend(struct.pack(f"<I{2 * len(pairs)}q", len(pairs), *(x for pair in pairs for x in pair)))
        return at

    return put


def _text(text: str) -> Part:
    def put(out: bytearray) -> int:
        _align(out, 4)
        at, data = len(out), text.encode()
        out.extend(struct.pack("<I", len(data)) + data + b"\0")
        return at

    return put
