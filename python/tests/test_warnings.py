"""What the program warns of is a warning of Python's."""

import pytest

import burst
from burst.errors import GenomeWarning

COARSE = "burst: v1\ntimestep: %s\nareas: [{name: E, neurons: 2, model: adex}]\n"
TOLD = "^the model adex of area E .*: write timestep: 0.1 ms$"


def test_network() -> None:
    with pytest.warns(GenomeWarning, match=TOLD) as told, burst.load(COARSE % "1 ms", threads=1, out=False) as net:
        net.step(3)
    assert len(told) == 1


def test_sweep() -> None:
    with pytest.warns(GenomeWarning, match=TOLD):
        burst.sweep(COARSE % "0.2 ms", length=10, seeds=range(1, 3), threads=1)


@pytest.mark.filterwarnings("error")
def test_none() -> None:
    with burst.load(COARSE % "0.1 ms", threads=1, out=False) as net:
        net.step(3)
