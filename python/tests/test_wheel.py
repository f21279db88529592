"""The wheel, built, checked and installed. It runs with `pytest -m wheel`, and needs a package index."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from burst import __version__, _program

ROOT = Path(__file__).parents[1]
MOST_BYTES = 15_000_000  # the program's budget when deflated (size_test.go), and the module
TAG = f"manylinux_2_17_{platform.machine()}"

pytestmark = pytest.mark.wheel


def build(source: Path, into: Path) -> Path:
    env = {**os.environ, "BURST_PROGRAM": str(Path(_program.find()).resolve()), "BURST_PLATFORM": TAG}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into)]
    subprocess.run(command, cwd=source, env=env, check=True)
    (wheel,) = into.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("here"))


def test_same_bytes(wheel: Path, tmp_path: Path) -> None:
    """Built elsewhere it has the same bytes."""
    there = tmp_path / "some" / "where"
    shutil.copytree(ROOT, there, ignore=shutil.ignore_patterns("tests", "__pycache__", ".*_cache"))
    again = build(there, tmp_path / "out")
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(wheel.read_bytes()).digest()


def test_content(wheel: Path) -> None:
    """It holds the module, the program and the licence, within the budget."""
    assert wheel.name == f"burst_snn-{__version__}-py3-none-{TAG}.whl"
    assert wheel.stat().st_size <= MOST_BYTES
    with zipfile.ZipFile(wheel) as z:
        files = {i.filename: i for i in z.infolist()}
    program = files.pop(f"burst_snn-{__version__}.data/scripts/burst")
    assert program.external_attr >> 16 & 0o777 == 0o755
    modules = {p.name for p in (ROOT / "src/burst").iterdir() if p.suffix in (".py", ".typed")}
    assert {n.removeprefix("burst/") for n in files if n.startswith("burst/")} == modules
    info = f"burst_snn-{__version__}.dist-info/"
    assert {n for n in files if not n.startswith("burst/")} == {
        info + n for n in ("METADATA", "WHEEL", "RECORD", "licenses/LICENSE")
    }
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", wheel], check=True)


def test_installed(wheel: Path, tmp_path: Path) -> None:
    """In a fresh environment it runs, with NumPy alone, and the program is on PATH."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = tmp_path / "env/bin/python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel], check=True)
    env = {"PATH": f"{tmp_path / 'env/bin'}:/usr/bin:/bin", "HOME": str(tmp_path)}
    text = "import burst; n = burst.load('quickstart').run('240 ms'); print(len(n.spikes), n.digest)"
    done = subprocess.run([python, "-c", text], env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "3663 130bd7d62696b90a\n"
    subprocess.run(["burst", "replay", "--help"], env=env, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)


def test_without_a_program(tmp_path: Path) -> None:
    """A wheel without a program cannot be built by mistake."""
    env = {k: v for k, v in os.environ.items() if k not in ("BURST_PROGRAM", "BURST_PLATFORM")}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "`make wheel` sets them" in done.stderr
