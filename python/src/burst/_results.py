"""What can be seen of a network."""

from __future__ import annotations

import json
import os
import webbrowser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import numpy.typing as npt

from ._builder import Area, name_of
from ._folder import Plot, manifest_of
from ._process import Process
from ._stream import Stream
from ._table import Table, checked, positions, table_of
from .errors import BurstError, UsageError

TABLES = ("spikes", "potentials", "variables", "fcl", "weights", "histograms")


class Results(Process):
    """A network whose results can be looked at, while it runs and after that."""

    @property
    def burst(self) -> int:
        """The number of the next burst."""
        return 0 if self._child is None else self._child.burst

    @property
    def areas(self) -> dict[str, Area]:
        """The areas by name, in the order in which neurons are numbered."""
        return dict(self.start()._areas)

    @property
    def digest(self) -> str:
        """The hash of all spikes so far, 16 hexadecimal digits."""
        if self._digest is None:
            self._digest = str(json.loads(self._running().get("/v1/status"))["digest"])
        if isinstance(self._digest, bytes):
            self._digest = f"{int.from_bytes(self._digest, 'little'):016x}"
        return self._digest

    @property
    def spikes(self) -> Table:
        """The spikes recorded so far, in memory: 4 bytes each, and 8 for its burst once that is looked at.

        Only those are read that are new since the last time; what was given before stays as it is.
        """
        return self.recorded("spikes")

    def recorded(self, table: str) -> Table:
        """What was recorded so far: spikes, potentials, variables, fcl, weights or histograms."""
        folder = self._on_disk()
        at, found = self._tables.get(table, (-1, None))
        if found is None or at != self.burst:
            manifest = manifest_of(folder)
            rows = self._streams.setdefault(table, Stream(folder / table)).read()
            if rows is not None:
                found = table_of(rows, manifest)
            else:  # the run has ended
                del self._streams[table]
                try:
                    found = checked(folder, table, manifest)
                except BurstError as e:
                    if "has no recording of" not in str(e):
                        raise
                    raise UsageError(
                        f"nothing of {table!r} is recorded; want it in `record` of burst.load, or net.record before "
                        f"the first run: {', '.join(TABLES)}"
                    ) from None
            self._tables[table] = (self.burst, found)
        return found

    def weights(self, projection: int) -> npt.NDArray[Any]:
        """The present weights of a projection that learns, by its number.

        Returns:
            A row for each synapse: uint32 source and target (ids in the whole network), uint32 delay (bursts), float32
            weight.

        Raises:
            RefusedError: its weights do not change; `burst export connectome` writes those.

        """
        row = np.dtype([("source", "<u4"), ("target", "<u4"), ("delay", "<u4"), ("weight", "<f4")])
        return np.frombuffer(self._running().get(f"/v1/projections/{projection}/weights"), row)

    def potentials(self, area: Area | str) -> npt.NDArray[np.float32]:
        """The present potential of each neuron of an area, in the genome's unit."""
        return np.frombuffer(self._running().get("/v1/potentials?" + urlencode({"area": name_of(area)})), "<f4")

    def positions(self, area: Area | str) -> npt.NDArray[np.float64]:
        """Where the neurons of an area with an `extent` lie: a row of x, y and z in um for each neuron."""
        return positions(self.manifest, area)

    @property
    def plot(self) -> Plot:
        """Draws pictures of what was recorded so far, such as net.plot.raster()."""
        return Plot(self._on_disk)

    def view(self, *, control: bool = False, browser: bool | None = None) -> str:
        """Shows the network on a page (docs/page.md), which follows it for as long as it runs.

        Args:
            control: whether one may act there, such as give neurons input.
            browser: whether to open the page in a browser; None: where there is a screen.

        Returns:
            The page's address, for a browser of this machine. Whoever has it may look, or act.

        """
        address = self._running().pages["control" if control else "view"]
        if browser or (browser is None and any(os.environ.get(x) for x in ("DISPLAY", "WAYLAND_DISPLAY"))):
            # The address has a token. As an argument of the browser other users could see it, in a file they cannot.
            path = self._scratch.path / "page.html"
            path.touch(0o600)
            path.write_text(f'<meta http-equiv="refresh" content="0;url={address}">')
            webbrowser.open(path.as_uri())
        return address

    def _on_disk(self) -> Path:
        """The run's folder, when all is there that was recorded so far."""
        if self._child is None or not self._child.closed:
            self.flush()
        return self.folder

    @property
    def manifest(self) -> dict[str, Any]:
        """The run's manifest (docs/results.md), as far as it is known while the run goes on."""
        return manifest_of(self._on_disk())

    def __repr__(self) -> str:
        if self._child is None:
            return "<network that is not started>"
        state = "closed" if self._child.closed else self._child.welcome["mode"]
        areas = ", ".join(f"{a.name} ({a.neurons:,} {a.model})" for a in self._areas.values())
        return f"<network {self._child.welcome['name']}, {state}, next burst {self.burst:,}: {areas}>"
