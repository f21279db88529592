"""How far a run has come, in terminals and notebooks."""

from __future__ import annotations

import sys
import time
from types import TracebackType

_FIRST = 1.0  # seconds before anything is shown
_EACH = 0.2  # seconds from one look to the next


class Progress:
    """A line on standard error that is written anew now and then, and taken away in the end.

    It is shown where somebody may look: in a terminal and in a notebook, once a run has taken a second.
    """

    def __init__(self, total: int, shown: bool | None, unit: str = "bursts") -> None:
        self.total = total
        self.unit = unit
        self.shown = (sys.stderr.isatty() or "ipykernel" in sys.modules) if shown is None else shown
        self.began = time.monotonic()
        self.next = self.began + _FIRST
        self.wide = 0  # characters of the line

    def show(self, done: int) -> None:
        """Says that so much has been run."""
        now = time.monotonic()
        if not self.shown or now < self.next:
            return
        self.next = now + _EACH
        left = (now - self.began) * (self.total - done) / done
        line = f"{done / self.total:4.0%}  {done:,} of {self.total:,} {self.unit}, {left:.0f} s left"
        self._write(line.ljust(self.wide))
        self.wide = len(line)

    def _write(self, line: str) -> None:
        sys.stderr.write("\r" + line)
        sys.stderr.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        if self.wide:
            self._write(" " * self.wide + "\r")
