"""Networks: built or loaded, run, fed and read."""

from __future__ import annotations

import json
import os
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from . import _client, _ports, _units
from ._builder import Area, Builder, name_of
from ._options import of_keywords, of_network
from ._ports import Feed, Input, Kind, Output, Value
from ._process import source_of
from ._progress import Progress
from ._results import Results
from .errors import UsageError

_MOST_STEPS = 1_000_000
_MOST_BYTES = 8 << 20  # of a frame
_PIECE_SECONDS = 0.25  # how long Ctrl-C waits, and between two looks at progress


class State:
    """A state that Network.state has kept."""

    def __init__(self, net: Network, name: str) -> None:
        self.owner = net._scratch
        self.name = name
        self.burst = net.burst
        weakref.finalize(self, net._unneeded.append, name).atexit = False  # a finalizer may run in the middle of a step

    def __repr__(self) -> str:
        return f"<state before burst {self.burst:,}>"

    def __reduce__(self) -> str:
        raise UsageError("a state is in its network's process, and cannot be copied or pickled; hold it as it is")


class Network(Results):
    """A network of spiking neurons.

    It is built with `area` and `connect`, or by `load`. The first call that needs it running starts it; from then on
    its structure is fixed. It runs in a process of its own, which ends with it.
    """

    def __init__(self, name: str = "network", *, timestep: str = "1 ms", **keys: Any) -> None:
        """A network without areas.

        Args:
            name: for messages and folders.
            timestep: what a burst stands for, such as "0.1 ms".
            keys: options of how it is run, as burst.load takes them (see Options), such as backend="cuda"; and other
                keys of the genome's top level, such as seed, run_seed, scale, models or plasticity (docs/genome.md).

        """
        options, genome = of_network(keys)
        super().__init__(Builder(name, {"timestep": timestep, **genome}), options)
        self._bound: list[dict[str, Any]] = []
        self._inputs = self._states = 0
        self._outputs: list[Output] = []
        self._unneeded: list[str] = []  # states that nobody holds any more
        self._piece = 1

    # Building

    def area(self, name: str, neurons: int | Sequence[int], model: str = "feagi", **keys: Any) -> Area:
        """Adds an area of neurons.

        Args:
            name: of the area.
            neurons: how many, or the size [x, y, z] of a grid of voxels.
            model: of its neurons (docs/models.md).
            keys: parameters of the model, and keys of an area such as drive, init and from_. Values are as in a genome:
                numbers, or texts with a unit. An array has a value for each neuron, as a parameter, in `init`,
                `columns` or a number of `drive`, in the base unit, or in that of a pair such as (array, "nA").
                `params` may hold parameters whose names are keys of an area. Spikes of the model spike_list may be two
                arrays, the neuron and the burst of each, or a table with the columns neuron and burst (of pyarrow,
                pandas or polars; it needs pyarrow). `positions` may be an array with a row of x, y and z in um for each
                neuron.

        """
        return self._building().area(name, neurons, model, keys)

    def connect(self, source: Area | str | None, target: Area | str | None, rule: Any, **keys: Any) -> int:
        """Adds a projection and returns its number.

        Args:
            source: the source area; None: an edge list numbers its neurons through the whole network.
            target: the target area, or None likewise.
            rule: name of a connection rule (docs/genome.md), or an edge list: two arrays, source and target of each
                synapse, counted from 0 in their areas, or a table with columns of docs/edges.md (of pyarrow, pandas or
                polars; it needs pyarrow).
            keys: keys of the rule, weight, delay, plasticity and others of a projection; `port` names the target's
                input. With an edge list, weight, delay and port may be arrays: delays are bursts if they are whole
                numbers and ms if they are floats, and ports are numbers. Initial values of variables of synapses, in
                the mapping plasticity, may be NumPy arrays in base units.

        """
        return self._building().connect(source, target, rule, keys)

    def connect_table(self, table: Any) -> range:
        """Adds a projection for each row of a table, and returns their numbers.

        Args:
            table: a mapping of columns, or a table of pyarrow, pandas or polars (it needs pyarrow), with the columns of
                docs/genome.md, such as source, target, rule, weight and delay_ms. None is a missing value.

        """
        return self._building().connect_table(table)

    def file(self, path: str | os.PathLike[str]) -> str:
        """Adds a file to the genome's folder, and returns the name by which keys of the genome can name it.

        Such as net.connect(E, I, "edges", file=net.file("data/wiring.csv")).
        """
        return self._building().file(path)

    def record(self, **keys: Any) -> None:
        """Says what to record.

        Args:
            keys: those of `record` in a genome: spikes, potentials, variables, fcl, weights and histograms, such as
                spikes=[E], potentials=[{"area": E, "neurons": [0, 1]}].

        """
        self._building().record(keys)

    def stimulate(self, area: Area | str, **keys: Any) -> int:
        """Adds a stimulus and returns its number, for switch.

        Args:
            area: that receives it.
            keys: at or every, neurons, voxels or image, amount, from_, until, and the `port` that takes it.

        """
        return self._building().stimulate(area, keys)

    def _building(self) -> Builder:
        if self._builder is None:
            raise UsageError("the network was loaded, and its structure is that of its genome; want burst.Network(...)")
        if self._child is not None:
            raise UsageError("the network runs already, so its structure is fixed; want another Network")
        return self._builder

    def copies(self, n: int) -> list[Network]:
        """Further networks like this one, each with a process of its own, at burst 0; their results are temporary."""
        made = []
        for _ in range(_number("copies", n, int)):
            x = Network()
            x._options = replace(self._options, out=None if self._options.out is not False else False)
            x._builder, x._source = self._builder, self._source
            made.append(x)
        return made

    # Running

    def input(
        self, area: Area | str, *, largest: float = 100.0, neurons: Iterable[int] | None = None,
        voxels: Iterable[Sequence[int]] | None = None, port: int | str = 0, once: bool = False, hold_for: int = 0,
    ) -> Input:  # fmt: skip
        """Binds an input of an area, or of some of its neurons or voxels, each an entry.

        Args:
            area: that receives it.
            largest: no amount will be larger, of either sign; in the unit of the port.
            neurons: numbers in the area, an entry each.
            voxels: x, y, z of voxels, an entry each.
            port: which input of the neurons, by its name or by its number from 1; 0: by the amount's sign, for models
                whose inputs need not be named.
            once: an amount counts for one burst; otherwise until there is another one.
            hold_for: and for at most so many bursts; 0: no end.

        """
        place = _ports.place(area, neurons, voxels)
        asked = {**place, "name": name_of(area), "port": port, "once": bool(once)}
        asked |= {"largest": _number("largest", largest, float), "hold_for": _number("hold_for", hold_for, int)}
        entries = self._bind({"inputs": [asked]})["inputs"][0]["entries"]
        self._inputs += 1
        return Input(self._scratch, name_of(area), self._inputs - 1, entries)

    def output(
        self, area: Area | str, kind: Kind = "counts", *, neurons: Iterable[int] | None = None,
        voxels: Iterable[Sequence[int]] | None = None, variable: str | None = None,
    ) -> Output:  # fmt: skip
        """Binds an output of an area, or of some of its neurons or voxels.

        Args:
            area: that is read.
            kind: "counts" of spikes of each entry, the entries that have "fired", the mean "rate" of the neurons in Hz,
                or the "potentials" after the last burst, which must be recorded.
            neurons: numbers in the area, an entry each.
            voxels: x, y, z of voxels, an entry each.
            variable: of "potentials" a state variable of the area's model in their place, such as "I_ex"; recorded too.

        """
        if kind not in _ports.KINDS:
            raise UsageError(f"an output of kind {kind!r}, want one of {', '.join(_ports.KINDS)}")
        asked = {**_ports.place(area, neurons, voxels), "kind": kind} | ({"variable": variable} if variable else {})
        bound = self._bind({"outputs": [asked]})
        made = Output(self._scratch, name_of(area), kind, len(self._outputs), bound["outputs"][0]["entries"])
        self._outputs.append(made)
        return made

    def _bind(self, asked: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._running().ask(_client.BIND, asked))
        self._bound.append(asked)
        return answer

    def step(
        self, length: int | str = 1, inputs: Mapping[Input, Value] | None = None
    ) -> dict[Output, npt.NDArray[Any]]:
        """Runs some bursts, and reads all outputs.

        Args:
            length: bursts, at most 1,000,000, or simulated time such as "20 ms".
            inputs: of some inputs an amount for each entry, or a pair: entries, ascending, and an amount for each of
                them, the others being 0. They hold until they are set again, unless the input says otherwise.

        Returns:
            Of each Output what happened in these bursts: uint32 counts, uint32 entries that have fired, float32
            potentials, or an array of one float32, the rate in Hz.

        """
        child = self._child or self._running()
        n = length if type(length) is int and 0 < length <= _MOST_STEPS else self._length(length)
        given, amounts = 0, b""
        if inputs is not None:
            _ports.mapping(inputs)
            for to, value in inputs.items():
                amounts += _ports.amounts(self._scratch, to, value)
            given = len(inputs)
        try:
            answer = child.step(n, given, amounts)
        except KeyboardInterrupt:
            self._digest = None
            raise
        self._digest = answer[16:24]
        return _ports.results(self._outputs, answer, 36)

    def _length(self, length: int | str) -> int:
        """The bursts of a step."""
        n = _units.bursts(length, self.timestep_ms)
        if n > _MOST_STEPS:
            raise UsageError(f"a step of {n} bursts, want at most {_MOST_STEPS}; net.run takes more")
        return n

    def _told(self, answer: bytes) -> dict[Output, npt.NDArray[Any]]:
        """The results of a step."""
        self._digest = answer[16:24]
        return _ports.results(self._outputs, answer, 36)

    @overload
    def run(
        self, length: int | str, inputs: Mapping[Input, Value] | None = None, *, outputs: None = None
    ) -> Network: ...

    @overload
    def run(
        self, length: int | str, inputs: Mapping[Input, Value] | None = None, *, outputs: Iterable[Output]
    ) -> dict[Output, npt.NDArray[Any]]: ...

    def run(
        self, length: int | str, inputs: Mapping[Input, Value] | None = None, *, outputs: Iterable[Output] | None = None
    ) -> Network | dict[Output, npt.NDArray[Any]]:
        """Runs bursts, or simulated time such as "1 s".

        Ctrl-C stops between two bursts and keeps the state: the next run goes on there. Outputs that are read later
        tell nothing of these bursts.

        Args:
            length: bursts, or simulated time.
            inputs: as those of step, which are set before the first burst; or of some inputs an array with an amount
                for each burst and entry, [bursts, entries]. What the last burst has then holds on.
            outputs: what to tell of each burst; "fired" cannot be told so.

        Returns:
            The network itself; with outputs of each an array [bursts, entries].

        """
        left = total = _units.bursts(length, self.start().timestep_ms)
        feed = Feed(self._scratch, total, inputs or {})
        told = None if outputs is None else [outputs] if isinstance(outputs, Output) else list(outputs)
        for o in told or ():
            if not isinstance(o, Output) or o.owner is not self._scratch or o.kind == "fired":
                raise UsageError(f"{o!r}, want an output of this network, of counts, rate or potentials")
        named = _ports.handles(told or ())
        most = min(_MOST_STEPS, _MOST_BYTES // max(1, feed.bytes + sum(4 * o.numbers for o in told or ())))
        parts: list[dict[Output, npt.NDArray[Any]]] = []
        with Progress(total, self._options.progress) as progress:
            while left > 0:
                n = max(1, min(left, self._piece, most))
                began = time.monotonic()
                given, amounts = feed.part(total - left, n)
                try:
                    answer = self._running().step(n, given, amounts + named, len(told or ()))
                except KeyboardInterrupt:
                    self._digest = None
                    raise
                self._digest = answer[16:24]
                if told:
                    parts.append(_ports.results(told, answer, 36))
                took = time.monotonic() - began
                left -= n
                if n == self._piece:
                    self._piece = int(min(_MOST_STEPS, max(1, n * min(4.0, _PIECE_SECONDS / max(took, 1e-6)))))
                progress.show(total - left)
        if told is None:
            return self
        return {o: np.concatenate([p[o] for p in parts]).reshape(total, o.numbers) for o in told}

    def reset(self, run_seed: int | None = None) -> None:
        """Puts the network into its state before burst 0.

        Burst numbers and digest go on, so drives draw other numbers than the first time. With run_seed a new run begins
        at burst 0, with that seed for random input and a folder of its own; inputs and outputs stay bound.
        """
        if run_seed is None:
            self._running().control("reset")
            return
        run_seed = _number("run_seed", run_seed, int)
        self.close()
        self._options = replace(self._options, run_seed=run_seed)
        self._child = None
        self._tables.clear()
        self._streams.clear()
        for asked in self._bound:
            self._running().ask(_client.BIND, asked)

    def state(self) -> State:
        """Keeps a copy of the state in the memory of the network's process, as long as the returned State exists.

        Raises:
            RefusedError: there are 8 already.

        """
        name = self._unneeded.pop() if self._unneeded else str(self._states)
        self._running().control("keep", state=name)
        self._states = max(self._states, int(name) + 1)
        return State(self, name)

    def restore(self, state: State) -> None:
        """Puts the network into a state that state() has kept. Burst numbers and digest go on."""
        if not isinstance(state, State):
            raise UsageError(f"{state!r} is no state, want what net.state() gave")
        if state.owner is not self._scratch:
            raise UsageError("the state is of another network")
        self._running().control("restore", state=state.name)

    def set(self, settings: Mapping[str, Any]) -> None:
        """Changes drives and stimuli from the next burst on, such as {"areas.crowd.drive.poisson.rate": "20 Hz"}.

        Raises:
            RefusedError: anything else of the genome is named, or sums could overflow; nothing is changed.

        """
        if not isinstance(settings, Mapping):
            raise UsageError(
                f'settings {settings!r}, want a mapping, such as {{"areas.crowd.drive.poisson.rate": "20 Hz"}}'
            )
        self._running().control("set", settings=[f"{path}={value}" for path, value in settings.items()])

    def switch(self, stimulus: int, on: bool) -> None:
        """Turns a stimulus of the genome off or on, by its number in the genome."""
        self._running().control("stimulus", stimulus=stimulus, on=on)

    def checkpoint(self) -> None:
        """Saves a checkpoint to the run's folder in the background; `burst resume` goes on from it."""
        self._running().control("checkpoint")

    def flush(self) -> None:
        """Returns when everything that was recorded so far is on disk, in the run's folder."""
        self._running().control("flush")


def _number(name: str, given: Any, kind: type[int] | type[float]) -> Any:
    """A number of at least 0 as a frame has it."""
    try:
        found = kind(given)
    except (TypeError, ValueError, OverflowError):
        found = -1
    if isinstance(given, (str, bytes)) or found != given or not 0 <= found < float("inf"):
        what = "whole number" if kind is int else "number"
        raise UsageError(f"{name} {given!r}, want a {what} that is not negative") from None
    return found


def load(source: str | os.PathLike[str] | Mapping[str, Any], **options: Any) -> Network:
    """Loads a network and starts it.

    Args:
        source: path of a genome, burst's YAML or FEAGI's JSON; the text of one (of more than a line); a mapping with
            the keys of a genome; the name of an example, such as "quickstart"; or the folder of a run of this package,
            which goes on where it ended or was killed.
        options: see Options.

    Raises:
        GenomeError: the genome has mistakes; `faults` has their places.
        FileError: there is no such file.
        LimitError: it is too large for this machine.
        DeviceError: the backend is not available.

    """
    net = Network()
    net._options = of_keywords(options)
    net._builder = None
    net._source = source_of(source)
    return net.start()


def step_all(
    networks: Sequence[Network], length: int | str, inputs: Sequence[Mapping[Input, Value]]
) -> list[dict[Output, npt.NDArray[Any]]]:
    """Steps several networks at the same time, each in its own process, and reads all their outputs.

    Raises:
        UsageError: a network is there twice, or there are not as many inputs as networks.

    """
    if (
        isinstance(inputs, Mapping)
        or len(inputs) != len(networks)
        or len({id(net) for net in networks}) < len(networks)
    ):
        raise UsageError(
            f"{len(networks)} networks with inputs {inputs!r}, want networks that differ, and inputs of each"
        )
    steps = []
    for net, given in zip(networks, inputs, strict=True):
        child = net._running()
        parts = [_ports.amounts(net._scratch, *x) for x in given.items()]
        steps.append((child, net._length(length), len(parts), b"".join(parts)))
    try:
        answers = _client.step_all(steps)
    except BaseException:
        for net in networks:
            net._digest = None
        raise
    return [net._told(answer) for net, answer in zip(networks, answers, strict=True)]
