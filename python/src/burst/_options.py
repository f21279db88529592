"""How a network is run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any, Literal

from .errors import UsageError


@dataclass(frozen=True)
class Options:
    """How a network is run. All have a default.

    Attributes:
        backend: "auto" (a GPU if there is one, else the CPU), "cpu", "cuda" or "reference".
        devices: GPUs that share the network, such as "0,1" or "all".
        threads: of the CPU backend and of building; 0 is all processors.
        seed: builds with this seed instead of the genome's.
        run_seed: seed of random input.
        set: values of the genome by their paths, such as {"areas.L4E.params.tau": "12 ms"}.
        stimulate: stimuli as the command line writes them, such as "eye=all every 10".
        learn: False keeps all weights as they start.
        record: what to record, by table: {"spikes": "all", "potentials": ["E", "I[0..9]"]}; None: as the genome says.
        out: folder for the results, which must not exist; None is a temporary one; False writes nothing.
        checkpoint_every: bursts, or a time such as "5m", between checkpoints.
        max_memory: refuse what would need more, such as "4GiB".
        progress: whether long runs show how far they are; None: in terminals and notebooks.

    """

    backend: str = "auto"
    devices: str | None = None
    threads: int = 0
    seed: int | None = None
    run_seed: int | None = None
    set: Mapping[str, Any] = field(default_factory=dict)
    stimulate: Sequence[str] = ()
    learn: bool = True
    record: Mapping[str, str | Sequence[str]] | None = None
    out: str | os.PathLike[str] | Literal[False] | None = None
    checkpoint_every: str | int | None = None
    max_memory: str | None = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        for name, example in (("set", '{"areas.E.params.tau": "12 ms"}'), ("record", '{"spikes": "all"}')):
            value = getattr(self, name)
            if value is not None and not isinstance(value, Mapping):
                raise UsageError(f"{name}={value!r}, want a mapping, such as {example}")
        if isinstance(self.stimulate, str):
            raise UsageError(f"stimulate={self.stimulate!r}, want a list of texts, such as [{self.stimulate!r}]")

    def flags(self) -> list[str]:
        """The flags of the command line, but for out."""
        flags = [f"--threads={self.threads}"]
        if self.backend != "auto":  # of a run that goes on, its own
            flags.append(f"--backend={self.backend}")
        for name in ("devices", "seed", "run_seed", "checkpoint_every", "max_memory"):
            value = getattr(self, name)
            if value is not None:
                flags.append(f"--{name.replace('_', '-')}={value}")
        flags += [f"--set={path}={value}" for path, value in self.set.items()]
        flags += [f"--stimulate={text}" for text in self.stimulate]
        for table, what in (self.record or {}).items():
            flags.append(f"--record={table}={what if isinstance(what, str) else ','.join(what)}")
        return flags if self.learn else [*flags, "--plasticity=off"]


def of_keywords(given: Mapping[str, Any]) -> Options:
    """Options of a call.

    Raises:
        UsageError: there is no such option.

    """
    known = [f.name for f in fields(Options)]
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UsageError(f"no option {name!r}, want one of {', '.join(known)}{hint}")
    return Options(**given)


# Options that are keys of a genome, too: a network that is built has them there.
_OF_GENOME = {"seed", "run_seed", "record"}


def of_network(keys: Mapping[str, Any]) -> tuple[Options, dict[str, Any]]:
    """The options among the arguments of a network, and the keys of its genome.

    Raises:
        UsageError: a key is a misspelt option.

    """
    names = {f.name for f in fields(Options)} - _OF_GENOME
    genome = {k: v for k, v in keys.items() if k not in names}
    for name in genome:
        near = get_close_matches(name, names, 1, 0.8)
        if near:
            raise UsageError(f"no option and no key of a genome {name!r}; did you mean {near[0]!r}?")
    return Options(**{k: v for k, v in keys.items() if k in names}), genome
