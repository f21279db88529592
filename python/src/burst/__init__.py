"""Networks of spiking neurons, simulated by burst: the same result, bit for bit, on CPUs and GPUs.

    import burst

    net = burst.load("quickstart").run("240 ms")
    print(net.rates, net.digest)
    burst_numbers, neurons = net.spikes.burst, net.spikes.neuron

docs/python.md has more.
"""

from ._builder import Area
from ._folder import Picture, Run
from ._folder import open_run as open
from ._options import Options
from ._ports import Input, Output
from ._sweep import Sweep, sweep
from ._table import Table
from ._version import __version__
from .errors import BurstError
from .network import Network, State, load, step_all

__all__ = [
    "Area",
    "BurstError",
    "Input",
    "Network",
    "Options",
    "Output",
    "Picture",
    "Run",
    "State",
    "Sweep",
    "Table",
    "__version__",
    "load",
    "open",
    "step_all",
    "sweep",
]
