"""A run in a process of its own, and the frames that it speaks (docs/live.md)."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

from . import _program
from ._version import __version__
from .errors import BurstError, EndedError, RefusedError, UsageError, VersionError, of_status

HEADER = struct.Struct("<IBBHQ")
_STEP = struct.Struct("<IBBHQIHH")  # the header of a step, bursts, and how many inputs and outputs it has
HELLO, STEP, STEPPED, NOTICE, CONTROL, BIND = 1, 4, 5, 7, 8, 10
WHOLE = 1 << 15  # bytes of a frame that come in one piece
_SHORT = WHOLE - _STEP.size  # amounts of a step that go in one piece
_LOOKING = 50e-6  # s for which an answer is looked for before this process sleeps
_ASLEEP = 100  # answers after one that took longer
# A notebook may wait for as long as its reader does.
FLAGS = ["--lock-step", "--listen", "127.0.0.1:0", "--quiet", "--step-timeout", "100000h"]


class Child:
    """The program, stepped by this process over a socket that only the two have.

    Threads may share it: one call waits for the other. A forked process cannot use it.
    """

    def __init__(self, arguments: Iterable[str]) -> None:
        if sys.platform == "win32":
            raise UsageError(
                "a network runs in a process that is handed a socket, which Windows cannot do: "
                "burst.sweep, burst.open and the program burst work there, all of it in WSL"
            )
        ours, theirs = socket.socketpair()
        self._take(ours)
        self._lock = threading.Lock()
        self._burst = 0
        self._unsettled = False  # Ctrl-C has broken into a step
        self._ended: BurstError | None = None
        self._control = ("", "")
        self.pages = {"view": "", "control": ""}  # the addresses of the page, to look and to act
        self.digest = ""
        with theirs:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
            try:
                self._process = subprocess.Popen(
                    [_program.find(), "serve", *arguments, *FLAGS, "--fd", str(theirs.fileno())],
                    pass_fds=(theirs.fileno(),),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    start_new_session=True,  # Ctrl-C is for this process, which then stops at a burst
                )
            except BaseException:
                ours.close()
                self._errors.close()
                raise
        _children.add(self)
        try:
            self._welcome()
        except BaseException:
            self.kill()
            raise

    def _take(self, ours: socket.socket) -> None:
        self._socket = ours
        self._reader = io.BufferedReader(io.FileIO(ours.fileno(), closefd=False), WHOLE)  # the socket closes it
        self._poll = select.poll()
        self._poll.register(ours, select.POLLIN)
        self._asleep = 0  # so many answers are awaited without a look

    def _welcome(self) -> None:
        self.welcome = json.loads(self.ask(HELLO, {"role": "drive", "name": "python"}))
        if self.welcome["program"] != __version__:
            raise VersionError(
                f"the program {_program.find()} is version {self.welcome['program']}, this package is {__version__}; "
                "install both from one wheel"
            )
        self._burst = self.welcome["burst"]
        out = self._process.stdout
        assert out is not None
        for line in out:
            word, _, url = line.decode().strip().partition(" ")
            if word in self.pages:
                self.pages[word] = url
            if word == "control":
                parts = urlsplit(url)
                self._control = (parts.netloc, parts.fragment.removeprefix("token="))
                said = os.pread(self._errors.fileno(), WHOLE, 0)  # the program goes on writing where it is
                _program.repeat_warnings(said.decode(errors="replace"))
                return

    def ask(self, kind: int, question: Any) -> bytes:
        """Sends JSON and gives the body of the answer."""
        text = json.dumps(question).encode()
        with self._mine(), Later() if kind != HELLO else _NOTHING:  # to build the network may take long
            try:
                if self._unsettled:
                    self._settle()
                self._send(HEADER.pack(len(text), kind, 1, 0, 0) + text)
                return self._answer({CONTROL: NOTICE}.get(kind, kind))[1][HEADER.size :]
            except (OSError, EOFError) as e:
                raise self._broken(e) from None

    def control(self, do: str, **more: Any) -> None:
        """Has something done, and waits until it is."""
        self.ask(CONTROL, {"do": do, **more})

    def step(self, n: int, inputs: int, amounts: bytes, outputs: int = 0) -> bytes:
        """Runs bursts from the next one on, and gives the answer, a whole frame.

        Ctrl-C breaks in without delay: the bursts are run all the same, and the next call finds out how far they went.

        Args:
            n: bursts.
            inputs: how many inputs are set.
            amounts: of these; then the handles of outputs.
            outputs: how many outputs are named.

        """
        with self._lock:
            self.begin_step(n, inputs, amounts, outputs)
            return self.end_step()

    def begin_step(self, n: int, inputs: int, amounts: bytes, outputs: int = 0) -> None:
        """Is the first half of step; the caller holds `lock`."""
        if self._ended is not None:
            raise self._ended
        try:
            if self._unsettled:
                self._settle()
            self._unsettled = True
            head = _STEP.pack(8 + len(amounts), STEP, 1, 0, self._burst, n, inputs, outputs)
            if len(amounts) < _SHORT:
                self._socket.sendall(head + amounts)
            else:
                self._send(head + amounts)
        except (OSError, EOFError) as e:
            raise self._broken(e) from None

    def end_step(self) -> bytes:
        """Is the second half."""
        try:
            self._burst, answer = self._answer(STEPPED)
        except RefusedError:
            self._unsettled = False
            raise
        except (OSError, EOFError) as e:
            raise self._broken(e) from None
        self._unsettled = False
        return answer

    @property
    def lock(self) -> threading.Lock:
        """Holds back other threads."""
        return self._lock

    @property
    def burst(self) -> int:
        """The next burst."""
        if self._unsettled and self._ended is None:
            with self._mine():
                try:
                    self._settle()
                except (OSError, EOFError) as e:
                    raise self._broken(e) from None
        return self._burst

    def _settle(self) -> None:
        """Reads what was left unread when Ctrl-C broke into a step, up to the answer to a question of its own."""
        with Later():
            self._socket.sendall(HEADER.pack(2, BIND, 1, 0, 0) + b"{}")
            got = None
            while got != BIND:
                got, self._burst, _ = self._receive()
            self._unsettled = False

    @contextlib.contextmanager
    def _mine(self) -> Iterator[None]:
        """Holds back other threads, and refuses other processes and a program that has ended."""
        with self._lock:
            if self._ended is not None:
                raise self._ended
            yield

    def _broken(self, e: Exception) -> Exception:
        """What is raised in place of an error of the socket."""
        return e if isinstance(e, BurstError) else self._lost()

    def _send(self, frame: bytes) -> None:
        if len(frame) > WHOLE:  # it is sent in several pieces
            with Later():
                self._socket.sendall(frame)
        else:
            self._socket.sendall(frame)

    def _answer(self, want: int) -> tuple[int, bytes]:
        """Waits for an answer: the next burst and the whole frame."""
        while True:
            got, next_burst, answer = self._receive()
            if got != NOTICE:
                if got == want:
                    return next_burst, answer
            else:
                notice = json.loads(answer[HEADER.size :])
                if notice["code"] == "refused":
                    raise RefusedError(notice["text"])
                if notice["code"] == "done" and want == NOTICE:
                    return next_burst, answer

    def _receive(self) -> tuple[int, int, bytes]:
        """Reads a frame, all of it or nothing, whenever Ctrl-C breaks in.

        `peek` waits for data and takes it into the reader's memory, in which no signal is handled.
        """
        self._look()
        have = self._reader.peek()
        if len(have) == 0:
            raise EOFError
        if len(have) >= HEADER.size:
            size, kind, version, _, burst = HEADER.unpack_from(have)
            if version != 1:
                raise VersionError(f"a frame of version {version}, want 1")
            if len(have) >= HEADER.size + size:
                return kind, burst, self._reader.read(HEADER.size + size)
        with Later():
            head = self._read(HEADER.size)
            size, kind, version, _, burst = HEADER.unpack(head)
            return kind, burst, head + self._read(size)

    def _look(self) -> None:
        """Looks for an answer for a moment: to sleep and be woken would take longer than a short step."""
        if self._asleep > 0:
            self._asleep -= 1
            return
        until = time.perf_counter() + _LOOKING
        while not self._poll.poll(0):
            if time.perf_counter() > until:
                self._asleep = _ASLEEP
                return

    def _read(self, n: int) -> bytes:
        """Reads so many bytes."""
        found = self._reader.read(n)
        if len(found) < n:
            raise EOFError
        return found

    def _lost(self) -> BurstError:
        """The error of a program that has gone."""
        self._socket.close()
        try:
            status = self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self._ended = of_status(status, self._said())
        return self._ended

    def _said(self) -> str:
        """What the program, which has ended, wrote on standard error."""
        if self._process.stdout is not None:
            self._process.stdout.close()
        with self._errors:
            self._errors.seek(0)
            return self._errors.read().decode(errors="replace")

    @property
    def closed(self) -> bool:
        """Whether the program has ended, for any reason."""
        return self._ended is not None

    def get(self, path: str) -> bytes:
        """The body of a route's answer."""
        if self._ended is not None:
            raise self._ended
        address, token = self._control
        connection = http.client.HTTPConnection(address, timeout=600)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            raise self._lost() from None
        finally:
            connection.close()
        if answer.status != 200:
            try:
                text = json.loads(body)["error"]
            except ValueError:
                text = f"the program has no route {path.partition('?')[0]}"
            raise RefusedError(text)
        return body

    def close(self) -> None:
        """Ends the run in good order: what it recorded becomes files. Only the first call does anything.

        Raises:
            BurstError: the program could not end in good order, such as on a full disk.

        """
        if self._ended is not None:
            return
        with self._lock:
            self._ended = EndedError("the network is closed")
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()
            out = self._process.stdout
            assert out is not None
            for line in out:
                if line.startswith(b"digest "):
                    self.digest = line.split()[1].decode()
            status = self._process.wait()
            text = self._said()
        if status != 0:
            raise of_status(status, text)

    def kill(self) -> None:
        """Ends the program at once."""
        if self._ended is None:
            self._ended = EndedError("the program was ended")
            self._socket.close()
            self._process.kill()
            self._process.wait()
            self._said()

    def forked(self) -> None:
        """Lets go of the socket in a forked process, so that the program ends with the process that started it."""
        self._socket.close()
        self._lock = threading.Lock()  # another thread may have held it
        self._ended = EndedError("this network belongs to the process that loaded it; load it again after the fork")


_NOTHING = contextlib.nullcontext()
_children: weakref.WeakSet[Child] = weakref.WeakSet()


def _after_fork() -> None:
    for child in _children:
        child.forked()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_after_fork)


def step_all(steps: list[tuple[Child, int, int, bytes]]) -> list[bytes]:
    """Has several programs run bursts at the same time, each as in Child.step, and gives the answers.

    Raises:
        RefusedError: one has refused its inputs; the others have run.

    """
    with contextlib.ExitStack() as held:
        for child in sorted({s[0] for s in steps}, key=id):
            held.enter_context(child.lock)
        for child, n, inputs, amounts in steps:
            child.begin_step(n, inputs, amounts)
        answers, refused = [], None
        for child, *_ in steps:
            try:
                answers.append(child.end_step())
            except RefusedError as e:
                refused = refused or e
    if refused is not None:
        raise refused
    return answers


class Later:
    """Holds back Ctrl-C until the block has ended."""

    def __enter__(self) -> None:
        self.before = signal.getsignal(signal.SIGINT)
        self.holds = callable(self.before) and threading.current_thread() is threading.main_thread()
        self.came: tuple[int, FrameType | None] | None = None
        if self.holds:
            signal.signal(signal.SIGINT, self.note)

    def note(self, number: int, frame: FrameType | None) -> None:
        """Is the handler meanwhile."""
        self.came = (number, frame)

    def __exit__(self, *_: object) -> None:
        if self.holds:
            signal.signal(signal.SIGINT, self.before)
        if self.came is not None and callable(self.before):
            self.before(*self.came)
