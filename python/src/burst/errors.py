"""The exceptions of this package. All are a BurstError."""

from __future__ import annotations

import re
from dataclasses import dataclass


class BurstError(Exception):
    """Something that burst refuses or that went wrong. The text says what was found and what is wanted."""


@dataclass(frozen=True)
class Fault:
    """A mistake in a genome."""

    file: str
    line: int
    column: int
    key: str
    message: str
    suggestion: str | None


class GenomeError(BurstError):
    """The genome has mistakes. `faults` has their places."""

    @property
    def faults(self) -> list[Fault]:
        """The mistakes, in the order of the text."""
        found = []
        text = str(self)
        for m in re.finditer(r"^(?:burst: )?(.+?):(\d+):(\d+): (?:([^\s:]+): )?(.*)$", text, re.M):
            rest = text[m.end() :].split("\nburst: ")[0].splitlines()[1:4]
            hint = next((h[1] for line in rest if (h := re.match(r'did you mean "?(.+?)"?\?$', line))), None)
            found.append(Fault(m[1], int(m[2]), int(m[3]), m[4] or "", m[5], hint))
        return found


class GenomeWarning(UserWarning):
    """The genome has no mistakes, but its results may be wrong. The text says why and what to write."""


class UsageError(BurstError, ValueError):
    """An argument that cannot be."""


class LimitError(BurstError, MemoryError):
    """The network is too large for this machine or for max_memory."""


class DeviceError(BurstError):
    """The backend is not available here, or its device failed."""


class FileError(BurstError, OSError):
    """A file could not be read or written, or another process has it."""


class DamagedError(BurstError):
    """A recording or checkpoint is damaged."""


class AssertionFailed(BurstError):  # noqa: N818  the program's own word
    """A replay or comparison found a difference."""


class RefusedError(BurstError, ValueError):
    """The running program refused what it was asked; nothing was done."""


class VersionError(BurstError):
    """The program is of another version than this package."""


class EndedError(BurstError):
    """The program has ended: it was killed or closed, or an error ended its run."""


class NoProgramError(BurstError, FileNotFoundError):
    """The program `burst` was not found."""


_BY_STATUS: dict[int, type[BurstError]] = {
    2: UsageError,
    3: GenomeError,
    4: LimitError,
    5: DeviceError,
    6: FileError,
    7: DamagedError,
    8: AssertionFailed,
}


def of_status(status: int, text: str) -> BurstError:
    """The error of a program that ended with a status and a text on standard error."""
    text = text.strip().removeprefix("burst: ")
    if status < 0:
        return EndedError(f"the program was ended by signal {-status}" + (f": {text}" if text else ""))
    return _BY_STATUS.get(status, EndedError)(text or f"the program ended with status {status}")
