"""Arguments that cannot be: each is refused with what was found and what is wanted, and harms nothing."""

import copy
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burst
from burst import errors

Bound = tuple[Any, Any, Any]  # a network, an input and an output, of any kind of argument


@pytest.fixture
def bound() -> Iterator[Bound]:
    with burst.load("quickstart", threads=1, out=False) as net:
        yield net, net.input("retina", largest=2), net.output("motor")


REFUSED: dict[str, tuple[Callable[[Any, Any, Any], object], str]] = {
    "option": (lambda net, eye, leg: burst.Network(bakend="cpu"), "did you mean 'backend'"),
    "text": (lambda net, eye, leg: net.step(1, {eye: "hi"}), "amounts of dtype <U2, want numbers"),
    "none": (lambda net, eye, leg: net.step(1, {eye: None}), "amounts of dtype object, want numbers"),
    "complex": (lambda net, eye, leg: net.step(1, {eye: np.full(256, 1j)}), "dtype complex128"),
    "shape": (lambda net, eye, leg: net.step(1, {eye: np.zeros((16, 16))}), "as ravel"),
    "NaN": (lambda net, eye, leg: net.step(1, {eye: np.full(256, np.nan)}), "amount NaN for entry 0"),
    "triple": (lambda net, eye, leg: net.step(1, {eye: ([1], [1.0], [2])}), "a tuple of 3, want a pair"),
    "below 0": (lambda net, eye, leg: net.step(1, {eye: ([-1], [1.0])}), "want whole numbers below 256"),
    "beyond": (lambda net, eye, leg: net.step(1, {eye: ([256], [1.0])}), "want whole numbers below 256"),
    "half": (lambda net, eye, leg: net.step(1, {eye: ([1.5], [1.0])}), "want whole numbers below 256"),
    "order": (lambda net, eye, leg: net.step(1, {eye: ([5, 1], [1.0, 1.0])}), "want ascending ones"),
    "no mapping": (lambda net, eye, leg: net.step(1, np.zeros(256)), "inputs are a ndarray, want a mapping"),
    "list": (lambda net, eye, leg: net.run(1, [eye]), "inputs are a list, want a mapping"),
    "name": (lambda net, eye, leg: net.step(1, {"retina": np.zeros(256, np.float32)}), "'retina' is no input"),
    "names": (lambda net, eye, leg: net.run(1, {"retina": np.zeros((1, 256), np.float32)}), "'retina' is no input"),
    "copies": (lambda net, eye, leg: net.copies(-1), "copies -1, want a whole number"),
    "pickle": (lambda net, eye, leg: pickle.dumps(net), "cannot be copied or pickled"),
    "deepcopy": (lambda net, eye, leg: copy.deepcopy(net), "use net.copies"),
    "source": (lambda net, eye, leg: burst.load(None), "a genome of type NoneType, want a path"),  # type: ignore[arg-type]
    "record": (lambda net, eye, leg: burst.load("quickstart", record="spikes"), "record='spikes', want a mapping"),
    "set": (lambda net, eye, leg: burst.load("quickstart", set=["a=1"]), "want a mapping, such as"),
    "stimulate": (lambda net, eye, leg: burst.load("quickstart", stimulate="eye=all"), "want a list of texts"),
    "length": (lambda net, eye, leg: net.step(None), "None bursts, want a whole number"),
    "NaN bursts": (lambda net, eye, leg: net.run(float("nan")), "nan bursts"),
    "beyond counting": (lambda net, eye, leg: net.run(10**30), "is more than the 72057594037927936 bursts"),
    "time beyond counting": (lambda net, eye, leg: net.run("1e400 s"), "is more than the 72057594037927936 bursts"),
    "no number": (lambda net, eye, leg: net.run("1.2.3 ms"), "want a number of bursts or a time"),
    "endless": (lambda net, eye, leg: net.run(float("inf")), "inf bursts"),
    "output": (lambda net, eye, leg: net.run(1, outputs=["motor"]), "'motor', want an output"),
    "largest": (lambda net, eye, leg: net.input("retina", largest=float("nan")), "largest nan, want a number"),
    "unit": (lambda net, eye, leg: net.input("retina", largest="2 mV"), "largest '2 mV', want a number"),
    "hold_for": (lambda net, eye, leg: net.input("retina", hold_for=-1), "hold_for -1, want a whole number"),
    "neuron": (lambda net, eye, leg: net.input("retina", neurons=[-1]), r"neurons \[-1\] of area 'retina'"),
    "neurons": (lambda net, eye, leg: net.input("retina", neurons=3), "neurons 3 of area 'retina'"),
    "mask": (lambda net, eye, leg: net.input("retina", neurons=np.ones(256, bool)), "a mask, want numbers, as np.flat"),
    "kept state": (lambda net, eye, leg: copy.copy(net.state()), "cannot be copied or pickled; hold it as it is"),
    "voxel": (lambda net, eye, leg: net.output("motor", voxels=[[0, 0]]), "want x, y and z of each"),
    "state": (lambda net, eye, leg: net.restore(None), "None is no state"),
    "settings": (lambda net, eye, leg: net.set("a=1"), "settings 'a=1', want a mapping"),
    "run_seed": (lambda net, eye, leg: net.reset(run_seed="x"), "run_seed 'x', want a whole number"),
    "stimulus": (lambda net, eye, leg: net.switch("x", False), '"stimulus" is string, want a whole number'),
    "twice": (lambda net, eye, leg: burst.step_all([net, net], 1, [{}, {}]), "want networks that differ"),
    "inputs": (lambda net, eye, leg: burst.step_all([net], 1, []), "1 networks with inputs"),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_refused(bound: Bound, mistake: str) -> None:
    net, eye, leg = bound
    call, says = REFUSED[mistake]
    before = net.burst
    with pytest.raises(errors.BurstError, match=says):
        call(net, eye, leg)
    assert net.burst == before
    assert net.step(1, {eye: np.zeros(256)})[leg].shape == (16,)


@pytest.mark.parametrize(
    "amounts",
    [np.zeros(256, ">f4"), np.zeros((256, 2))[:, 0], np.zeros(256, bool), [0] * 256, ([], []), (np.array([3]), [1])],
    ids=["big-endian", "strided", "bool", "list", "none", "int64"],
)
def test_taken(bound: Bound, amounts: Any) -> None:
    """What has the right shape is taken, however it lies in memory."""
    net, eye, leg = bound
    assert net.step(1, {eye: amounts})[leg].dtype == np.uint32


def test_numbers_of_numpy(bound: Bound, tmp_path: Path) -> None:
    """They are as good as Python's."""
    net, _, leg = bound
    places = np.arange(3)
    assert net.input("retina", largest=np.float32(0.5), hold_for=np.int64(3), neurons=places).entries == 3
    assert net.run(np.int64(2), outputs=leg)[leg].shape == (2, 16)
    area = {"name": "a", "neurons": np.int32(3), "threshold": np.float64(0.5)}
    with burst.load({"burst": "v1", "name": "d", "seed": np.int64(3), "areas": [area]}, out=False) as other:
        assert other.areas["a"].neurons == 3
    for wrong in ({1}, np.ones(3)):
        with pytest.raises(errors.BurstError, match=r"in a genome, want numbers|threshold: expects a plain number"):
            burst.load({"burst": "v1", "name": "d", "areas": [{"name": "a", "threshold": wrong}]}, out=False)


def test_options() -> None:
    """A word that is no option is named, with the one that may be meant."""
    for call in (lambda: burst.load("quickstart", bakend="cpu"), lambda: burst.sweep("quickstart", bakend="cpu")):
        with pytest.raises(errors.UsageError, match=r"no option 'bakend'.*did you mean 'backend'"):
            call()


@pytest.mark.parametrize("size", [5.5, (2, 3), (2.5, 1, 1), "5", None])
def test_sizes(size: Any) -> None:
    with pytest.raises(errors.UsageError, match="area 'a': a size of"):
        burst.Network().area("a", size)
