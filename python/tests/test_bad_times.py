"""What goes wrong outside of the network."""

import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burst
from burst import _client, errors


def process_of(net: burst.Network) -> int:
    child = net._child
    assert child is not None
    return child._process.pid


@pytest.mark.parametrize("act", ["step", "rates", "spikes", "output"])
def test_program_killed(loop: str, act: str) -> None:
    """A killed program is an exception that says so, at once and ever after; what is on disk can be read."""
    net = burst.load(loop).run(50)
    net.flush()
    os.kill(process_of(net), signal.SIGKILL)
    calls: dict[str, Callable[[], object]] = {
        "step": net.step,
        "rates": lambda: net.rates,
        "spikes": lambda: net.spikes,
        "output": lambda: net.output("leg"),
    }
    for _ in range(2):
        with pytest.raises(errors.EndedError, match="signal 9"):
            calls[act]()
        if act == "spikes":
            break
    assert len(net.spikes) > 0
    net.close()


@pytest.mark.parametrize(("by", "says"), [(signal.SIGKILL, "signal 9"), (signal.SIGTERM, "status 0")])
def test_program_ended_at_work(loop: str, by: int, says: str) -> None:
    """Whoever waits for an answer is told, too."""
    net = burst.load(loop, out=False)
    timer = threading.Timer(0.3, os.kill, (process_of(net), by))
    timer.start()
    with pytest.raises(errors.EndedError, match=says):
        net.run(2**40)
    timer.join()


def test_closed(loop: str) -> None:
    net = burst.load(loop).run(5)
    net.close()
    net.close()
    with pytest.raises(errors.EndedError, match="closed"):
        net.step()
    assert len(net.rates) == 3
    assert len(net.digest) == 16


def test_fork(loop: str) -> None:
    """A forked process cannot use the network, and takes neither it nor its files away."""
    net = burst.load(loop).run(5)
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        text = "nothing was raised"
        try:
            net.step()
        except errors.EndedError as e:
            text = str(e)
        os.write(writing, text.encode())
        net.close()
        del net
        gc.collect()
        os._exit(0)
    os.waitpid(pid, 0)
    assert b"load it again after the fork" in os.read(reading, 1000)
    os.close(reading)
    os.close(writing)
    assert net.run(5).burst == 10
    net.close()


def test_threads(loop: str) -> None:
    """Threads share a network: every step is done once."""
    with burst.load(loop, out=False) as net:
        crowd = net.output("crowd")
        spikes: list[int] = []

        def work() -> None:
            spikes.extend(int(net.step(3)[crowd].sum()) for _ in range(50))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert net.burst == 600
        assert len(spikes) == 200
        with burst.load(loop, out=False) as same:
            assert same.run(600).digest == net.digest
            assert sum(spikes) == round(same.rates["crowd"] * 200 * 0.6)


def test_versions_differ(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_client, "__version__", "0.0.9")
    with pytest.raises(errors.VersionError, match=r"is version 0\.1\.0, this package is 0\.0\.9"):
        burst.load(loop)


def test_no_program(loop: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BURST_PROGRAM", str(tmp_path / "none"))
    with pytest.raises(errors.NoProgramError, match="which cannot be run"):
        burst.load(loop)
    monkeypatch.delenv("BURST_PROGRAM")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda *_, **__: str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(errors.NoProgramError, match="was not found"):
        burst.load(loop)


@pytest.mark.skipif(os.path.exists("/dev/nvidia0"), reason="this machine has a GPU")
def test_windows(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network cannot run there, and says what can."""
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(errors.UsageError, match=r"Windows cannot do: burst\.sweep, burst\.open"):
        burst.load(loop)


def test_no_gpu() -> None:
    with pytest.raises(errors.DeviceError, match="CUDA is not available"):
        burst.load("quickstart", backend="cuda")


def for_ever(net: burst.Network, inputs: dict[burst.Input, Any], timer: threading.Timer) -> None:
    timer.start()
    while True:
        net.run(100_000, inputs)
        net.step(3)


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """Ctrl-C as in a terminal: a shell that starts the tests in the background has turned it off."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_interrupted(loop: str) -> None:
    """Ctrl-C, twenty times, 1 to 20 ms into runs and steps with input: each time it is raised at once.

    The network then stands between two bursts, and goes on: its digest is that of as many bursts without Ctrl-C.
    """
    with burst.load(loop, out=False) as net, burst.load(loop, out=False) as same:
        eye = net.input("eye", largest=2)
        for k in range(20):
            timer = threading.Timer(0.001 * (k + 1), os.kill, (os.getpid(), signal.SIGINT))
            with pytest.raises(KeyboardInterrupt):
                for_ever(net, {eye: np.ones(12)}, timer)
            timer.join()
        assert net.burst > 0
        net.run(10)
        same.run(net.burst, {same.input("eye", largest=2): np.ones(12)})
        assert net.digest == same.digest


@pytest.mark.usefixtures("_interruptible")
def test_interrupted_while_building() -> None:
    """Ctrl-C while the network is built ends the program."""
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        burst.load("burst-1m", out=False)
    timer.join()


def test_this_process_killed(loop: str, tmp_path: Path) -> None:
    """The program ends with the process that started it, in good order."""
    text = (
        "import burst, sys, time\n"
        f"net = burst.load({loop!r}, out={str(tmp_path / 'run')!r}).run(100)\n"
        "print(net._child._process.pid, net.digest, flush=True)\n"
        "time.sleep(600)\n"
    )
    user = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE)
    assert user.stdout is not None
    pid, digest = user.stdout.readline().split()
    user.kill()
    user.wait()
    user.stdout.close()
    deadline = time.monotonic() + 60
    while os.path.exists(f"/proc/{pid.decode()}") and time.monotonic() < deadline:
        time.sleep(0.01)
    run = burst.open(tmp_path / "run")
    assert run.manifest["status"] == "interrupted"
    assert run.replay() == run.digest == digest.decode()


def test_full_frames_only() -> None:
    """A frame of another protocol is refused."""
    child, theirs = bare_child()
    theirs.sendall(_client.HEADER.pack(0, 5, 2, 0, 0))
    with pytest.raises(errors.VersionError, match="version 2, want 1"):
        child._receive()
    theirs.close()
    child._socket.close()


def test_looks_only_for_what_comes_soon() -> None:
    """After an answer that took long, the next ones are awaited asleep."""
    child, theirs = bare_child()
    child._look()
    assert child._asleep == _client._ASLEEP
    for left in reversed(range(_client._ASLEEP)):
        child._look()
        assert child._asleep == left
    theirs.sendall(b"x")
    child._look()
    assert child._asleep == 0
    theirs.close()
    child._socket.close()


def bare_child() -> tuple[_client.Child, socket.socket]:
    """One without a program, and the other end of its socket."""
    ours, theirs = socket.socketpair()
    child = _client.Child.__new__(_client.Child)
    child._take(ours)
    return child, theirs
