"""Lengths of time, in bursts."""

from __future__ import annotations

import re

from .errors import UsageError

_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3}
_TIME = re.compile(r"\s*((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(us|ms|s)\s*", re.ASCII)
_MOST = 1 << 56  # bursts that a run can count


def _parts(length: str) -> tuple[float, str]:
    """The number and the unit of a time."""
    m = _TIME.fullmatch(length)
    if m is None:
        raise UsageError(f'"{length}", want a number of bursts or a time with us, ms or s, such as "20 ms"')
    return float(m[1]), m[2]


def compact(length: str) -> str:
    """A time as flags of the program have it."""
    number, unit = _parts(length)
    return f"{number:.12g}{unit}"


def bursts(length: int | str, timestep_ms: float) -> int:
    """The bursts that a length of simulated time has: a whole number of bursts, or a text such as "1 s" or "20 ms".

    Raises:
        UsageError: it is no whole number of bursts, less than one, or more than a run can count.

    """
    if isinstance(length, str):
        number, unit = _parts(length)
        exact = min(number * _MS[unit] / timestep_ms, 2.0 * _MOST)
        n = round(exact)
        if abs(exact - n) > 1e-6 * max(n, 1):
            raise UsageError(f'"{length}" is {exact:g} bursts of {timestep_ms:g} ms, want a whole number')
    else:
        try:
            n = int(length)
        except (TypeError, ValueError, OverflowError):
            n = -1
        if n != length:
            raise UsageError(f'{length} bursts, want a whole number, or a time such as "20 ms"')
    if n < 1:
        raise UsageError(f"{length} is {n} bursts, want at least 1")
    if n > _MOST:
        raise UsageError(f"{length} is more than the {_MOST} bursts that a run can count")
    return n
