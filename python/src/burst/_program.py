"""Finds and calls the program `burst`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import warnings
from pathlib import Path
from typing import IO

from .errors import GenomeWarning, NoProgramError, of_status


def find() -> str:
    """The path of the program: $BURST_PROGRAM, else that of this package's wheel, else the one on PATH."""
    named = os.environ.get("BURST_PROGRAM")
    if named:
        if not os.access(named, os.X_OK):
            raise NoProgramError(f"BURST_PROGRAM is {named}, which cannot be run; want the path of the program burst")
        return named
    name = "burst" + (sysconfig.get_config_var("EXE") or "")
    user = sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user"))
    target = Path(__file__).parent.parent / "bin"  # of pip install --target
    for folder in (sysconfig.get_path("scripts"), user, str(target), os.path.dirname(sys.executable)):
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return path
    on_path = shutil.which(name)
    if on_path is None:
        raise NoProgramError(
            "the program burst was not found: this package was installed without it. "
            "Install a wheel of burst-snn, or set BURST_PROGRAM to the program's path"
        )
    return on_path


def call(*arguments: str, to: IO[bytes] | None = None) -> str:
    """Runs a command of the program and gives what it prints, unless that goes to a file.

    Raises:
        BurstError: the one of the exit status.

    """
    done = subprocess.run(
        [find(), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=to or subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise of_status(done.returncode, done.stderr)
    return done.stdout or ""


def repeat_warnings(text: str) -> None:
    """Makes Python's warnings of what the program has said of a genome."""
    for line in text.splitlines():
        if line.startswith("warning: "):
            warnings.warn(line.removeprefix("warning: "), GenomeWarning, stacklevel=3)
