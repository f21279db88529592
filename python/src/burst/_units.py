"""Lengths of time, in bursts."""

from __future__ import annotations

import re

from .errors import UsageError

_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3}


def bursts(length: int | str, timestep_ms: float) -> int:
    """The bursts that a length of simulated time has: a whole number of bursts, or a text such as "1 s" or "20 ms".

    Raises:
        UsageError: it is no whole number of bursts, or less than one.

    """
    if isinstance(length, str):
        m = re.fullmatch(r"\s*([0-9.]+(?:[eE][-+]?\d+)?)\s*(us|ms|s)\s*", length)
        if m is None:
            raise UsageError(f'"{length}", want a number of bursts or a time with us, ms or s, such as "20 ms"')
        exact = float(m[1]) * _MS[m[2]] / timestep_ms
        n = round(exact)
        if abs(exact - n) > 1e-6 * max(n, 1):
            raise UsageError(f'"{length}" is {exact:g} bursts of {timestep_ms:g} ms, want a whole number')
    else:
        n = int(length)
        if n != length:
            raise UsageError(f"{length} bursts, want a whole number")
    if n < 1:
        raise UsageError(f"{length} is {n} bursts, want at least 1")
    return n
