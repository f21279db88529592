"""Puts the program into the wheel: BURST_PROGRAM is its path, BURST_PLATFORM the tag of what it runs on."""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProgramHook(BuildHookInterface[Any]):
    """The build hook of the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the program. An editable install has none: it takes BURST_PROGRAM, or the one on PATH."""
        if version == "editable":
            return
        program, platform = os.environ.get("BURST_PROGRAM"), os.environ.get("BURST_PLATFORM")
        if not program or not platform:
            raise SystemExit("BURST_PROGRAM and BURST_PLATFORM are not set; `make wheel` sets them")
        build_data["shared_scripts"] = {program: "burst.exe" if platform.startswith("win") else "burst"}
        build_data["tag"] = f"py3-none-{platform}"
