"""The programs of docs/python.md, and those beside them."""

import re
import runpy
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burst

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/python.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```(?:\n\n```\n(.*?)```)?", GUIDE, re.S)


def test_programs() -> None:
    assert len(PROGRAMS) == 4
    assert sum(bool(output) for _, output in PROGRAMS) == 4


@pytest.mark.parametrize(("program", "output"), PROGRAMS)
def test_guide(program: str, output: str, tmp_path: Path) -> None:
    """Each program runs by itself and prints what stands behind it."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == output


def test_ros2_node(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The node against a stub of rclpy: ROS 2 itself is not at work here."""

    class Message:
        def __init__(self, data: Any = ()) -> None:
            self.data = data

    class Node:
        def __init__(self, name: str) -> None:
            self.sent: list[Message] = []

        def create_publisher(self, kind: type, topic: str, depth: int) -> Any:
            return types.SimpleNamespace(publish=self.sent.append)

        def create_subscription(self, kind: type, topic: str, callback: Any, depth: int) -> None:
            self.hears = callback

        def create_timer(self, period: float, callback: Any) -> None:
            self.ticks = callback

    modules: dict[str, dict[str, Any]] = {
        "rclpy": {"init": None, "spin": None},
        "rclpy.node": {"Node": Node},
        "std_msgs": {},
        "std_msgs.msg": {"Float32MultiArray": Message, "UInt32MultiArray": Message},
    }
    for name, content in modules.items():
        module = types.ModuleType(name)
        module.__dict__.update(content)
        monkeypatch.setitem(sys.modules, name, module)
    brain = runpy.run_path(str(ROOT / "python/examples/ros2_node.py"))["Brain"]
    with burst.load(loop, out=False) as net:
        node = brain(net, "eye", "crowd")
        node.ticks()
        node.hears(Message(np.full(12, 9.0).tolist()))
        node.ticks()
    quiet, busy = (sum(m.data) for m in node.sent)
    assert len(node.sent[0].data) == 200
    assert busy > quiet
