"""In a notebook's kernel: pictures, Ctrl-C, and what becomes of a network when the kernel is restarted."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import wanted

import burst

wanted("ipykernel")
manager = wanted("jupyter_client.manager")
SECONDS = 120


class Kernel:
    """A kernel, and what its cells say."""

    def __init__(self) -> None:
        self.manager, self.client = manager.start_new_kernel(kernel_name="python3")

    def begin(self, cell: str) -> None:
        """Sends a cell."""
        self.number = self.client.execute(cell)

    def end(self) -> tuple[str, list[dict[str, Any]]]:
        """What it has printed, or the name of its error, and what it shows."""
        text, shown = "", []
        while True:
            message = self.client.get_iopub_msg(timeout=SECONDS)
            if message["parent_header"].get("msg_id") != self.number:
                continue
            content = message["content"]
            match message["msg_type"]:
                case "stream" if content["name"] == "stdout":
                    text += content["text"]
                case "error":
                    text += content["ename"]
                case "execute_result" | "display_data":
                    shown.append(content["data"])
                case "status" if content["execution_state"] == "idle":
                    return text, shown

    def run(self, cell: str) -> str:
        """Runs a cell to its end."""
        self.begin(cell)
        return self.end()[0]


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Kernel]:
    """A kernel that is ended."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    made = Kernel()
    yield made
    made.client.stop_channels()
    made.manager.shutdown_kernel(now=True)


def test_kernel(kernel: Kernel, loop: str, tmp_path: Path) -> None:
    """The kernel is interrupted, and the network goes on; it is killed and restarted, and so does its folder."""
    out = str(tmp_path / "run")
    said = kernel.run(f"import burst\nnet = burst.load({loop!r}, out={out!r})\nprint(net._child._process.pid)")
    pid = int(said)
    kernel.begin("print('begins', flush=True)\nnet.run(2**40)")
    time.sleep(1)
    kernel.manager.interrupt_kernel()
    assert kernel.end()[0] == "begins\nKeyboardInterrupt"
    burst_number, digest = kernel.run("net.run(10)\nprint(net.burst, net.digest)").split()
    assert int(burst_number) > 10
    kernel.begin("net.plot.rates()")
    _, (shown,) = kernel.end()
    assert shown["image/png"].startswith("iVBOR")

    kernel.manager.restart_kernel(now=True)
    deadline = time.monotonic() + SECONDS
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not os.path.exists(f"/proc/{pid}"), "the program ends with the kernel"
    run = burst.open(out)
    assert (run.manifest["status"], run.digest) == ("interrupted", digest)
    kernel.client.wait_for_ready(timeout=SECONDS)
    assert kernel.run("net.run(10)") == "NameError"
    said = kernel.run(f"import burst\nwith burst.load({out!r}) as net: print(net.burst, net.digest, net.run(10).burst)")
    assert said.split() == [burst_number, digest, str(int(burst_number) + 10)]
