"""What tests share."""

import gc
import importlib.util
import os
from collections.abc import Iterator
from types import ModuleType

import pytest

LOOP = """burst: v1
name: loop
seed: 31
areas:
  - {name: eye, size: [4, 3, 1], threshold: 0.9}
  - {name: crowd, neurons: 200, threshold: 1.5, refractory: 1, leak: 0.1, drive: {poisson: {rate: 300 Hz, weight: 0.9}}}
  - {name: leg, neurons: 5, threshold: 2}
projections:
  - {from: eye, to: crowd, rule: fixed_outdegree, outdegree: 13, weight: 0.5, delay: "uniform(1, 9)"}
  - {from: crowd, to: leg, rule: fixed_indegree, indegree: 20, weight: 0.4, plasticity: {rule: stdp, w_max: 1}}
stimuli:
  - {area: crowd, every: 7, neurons: [0, 1, 2], amount: 2}
"""


def wanted(name: str) -> ModuleType:
    """A module that the package can do without. Tests that want it are skipped where it is not installed; in CI it is.

    A module that is there and does not work is an error.
    """
    if importlib.util.find_spec(name) is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{name} is not installed, which CI installs (requirements.txt)", pytrace=False)
        pytest.skip(f"{name} is not installed", allow_module_level=True)
    return importlib.import_module(name)


@pytest.fixture
def loop() -> str:
    """A network with a sensor, a motor, noise, a projection that learns, and a stimulus."""
    return LOOP


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    """Every network's process ends with it."""
    yield
    gc.collect()
    with open(f"/proc/self/task/{os.getpid()}/children") as f:
        assert not f.read().split(), "a process is left"
