"""The worker's side of a supervisor. Safe for threads; what is asked is done one after another."""

import base64
import binascii
import contextlib
import itertools
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worker.qemu.lines import LineDecoder, LineError, encode
from worker.qemu.machine import Machine

CHECKOUT = Path(__file__).resolve().parents[2]
CLOSED = "closed"
"""Why a machine is gone that was ended because nobody needs it any more."""
_STARTED_SECONDS = 30.0
_STOP_SECONDS = 20.0
_QUICK_SECONDS = 15.0
_START_SECONDS = 120.0
_FREEZE_SECONDS = 400.0
_NOBODY = 0
"""Instead of a request's number, which begin at 1."""


class SupervisorError(Exception):
    """The supervisor could not do what was asked."""


class SupervisorLost(SupervisorError):
    """The supervisor died, and its machines with it."""


@dataclass
class Held:
    """A machine that the supervisor holds.

    Attributes:
        port: of this host, leads to the guest API.
        pid: of its QEMU.
        seconds: by phase.
        dead: why it cannot be used any more; empty while it can.
        ended: set when that is known.
    """

    name: str
    port: int
    pid: int
    seconds: Mapping[str, float]
    dead: str = ""
    ended: threading.Event = field(default_factory=threading.Event)

    def end(self, why: str) -> None:
        """Notes its end; the first reason is kept."""
        self.dead = self.dead or why
        self.ended.set()


class SlotSupervisor:
    """One supervisor process and the conversation with it."""

    def __init__(self, overlays: Path) -> None:
        """Starts it and waits until it serves.

        Args:
            overlays: folder with room for what machines write; must be there.

        Raises:
            SupervisorError: it could not start.
        """
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._pending: dict[int, Future[dict[str, Any]]] = {}
        self._machines: dict[str, Held] = {}
        self._lost = ""
        self._started: Future[dict[str, Any]] = Future()
        self._connection, theirs = socket.socketpair()
        with theirs:
            self._process = _start(theirs.fileno(), overlays)
        self._reader = threading.Thread(target=self._read, name="supervisor", daemon=True)
        self._reader.start()
        try:
            told = self._started.result(_STARTED_SECONDS)
        except (SupervisorError, TimeoutError) as error:
            self.close()
            raise SupervisorError(f"the supervisor of virtual machines did not start: {error}") from error
        self.folder, self.qemu = Path(told["folder"]), str(told["qemu"])

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def alive(self) -> bool:
        """False once it is known to be gone."""
        return not self._lost

    # ---- what can be asked

    def start(self, kind: str, machine: Machine, *, secret: str = "", place: Path | None = None) -> Held:
        """Starts a machine; see `Slot.start`.

        Raises:
            SupervisorError: it could not be started; nothing of it is left.
        """
        asked = {"op": "start", "kind": kind, "machine": machine.to_json(), "secret": secret}
        held: Held = self._ask(asked | ({"place": str(place)} if place else {}), _START_SECONDS)["held"]
        return held

    def freeze(self, held: Held, place: Path) -> Mapping[str, float]:
        """Makes a template out of a master. Returns seconds by phase. Raises SupervisorError."""
        asked = {"op": "freeze", "machine": held.name, "place": str(place)}
        seconds: Mapping[str, float] = self._ask(asked, _FREEZE_SECONDS)["seconds"]
        return seconds

    def picture(self, held: Held) -> bytes:
        """The machine's screen as PNG, whatever its guest does. Raises SupervisorError."""
        try:
            return base64.b64decode(self._ask({"op": "picture", "machine": held.name}, _QUICK_SECONDS)["png"])
        except binascii.Error as error:
            raise SupervisorError("the supervisor sent no picture") from error

    def private_bytes(self, held: Held) -> int:
        """Memory that is this machine's alone. Raises SupervisorError."""
        return int(self._ask({"op": "memory", "machine": held.name}, _QUICK_SECONDS)["bytes"])

    def end(self, held: Held) -> None:
        """Ends a machine; nothing of it is left then. Safe to call twice.

        Raises:
            SupervisorError: it does not go.
        """
        if self.alive():
            with contextlib.suppress(SupervisorLost):
                self._ask({"op": "end", "machine": held.name}, _QUICK_SECONDS)
        with self._lock:
            self._machines.pop(held.name, None)
        held.end(CLOSED)

    def close(self) -> None:
        """Stops it; returns when it and all its machines are gone. Safe to call twice."""
        with contextlib.suppress(SupervisorError, TimeoutError):
            self._ask({"op": "stop"}, _STOP_SECONDS)
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(_STOP_SECONDS)
        self._connection.close()

    # ---- the conversation

    def _ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        answer: Future[dict[str, Any]] = Future()
        number = next(self._ids)
        with self._lock:
            if self._lost:
                raise SupervisorLost(self._lost)
            self._pending[number] = answer
            try:
                self._connection.sendall(encode(request | {"id": number}))
            except OSError as error:
                self._pending.pop(number)
                raise SupervisorLost(f"the supervisor is gone: {error}") from error
        try:
            return answer.result(seconds)
        except TimeoutError:
            # It may be answered right now; whoever comes later than this is told that nobody waits.
            if not answer.cancel():
                return answer.result()
            raise SupervisorError(f"the supervisor did not answer {request['op']!r} in {seconds:g} s") from None
        finally:
            with self._lock:
                self._pending.pop(number, None)

    def _read(self) -> None:
        """The reader thread: hands answers to whoever waits and notes which machines are gone."""
        decoder = LineDecoder()
        with contextlib.suppress(OSError, LineError):
            while data := self._connection.recv(65536):
                for message in decoder.feed(data):
                    self._take(message)
        self._lose("the supervisor of virtual machines died, and its machines with it")

    def _take(self, message: dict[str, Any]) -> None:
        event = message.get("event")
        if event == "started":
            self._started.set_result(message)
        elif event == "gone":
            with self._lock:
                held = self._machines.get(message["machine"])
            if held is not None:
                held.end(str(message["why"]))
        else:
            self._resolve(message)

    def _resolve(self, message: dict[str, Any]) -> None:
        with self._lock:
            waiting = self._pending.get(message["id"])
            wanted = waiting is not None and waiting.set_running_or_notify_cancel()
            if message["ok"] and "port" in message:
                self._note(message, wanted=wanted)
        if waiting is None or not wanted:
            return
        if message["ok"]:
            waiting.set_result(message)
        else:
            waiting.set_exception(SupervisorError(message["error"]))

    def _note(self, message: dict[str, Any], *, wanted: bool) -> None:
        """A machine was started. One for which nobody waits any more is ended; the answer to that is for nobody."""
        if not wanted:
            with contextlib.suppress(OSError):
                self._connection.sendall(encode({"op": "end", "machine": message["machine"], "id": _NOBODY}))
            return
        # Noted in the reader's order: news of its end may be the very next message.
        held = Held(message["machine"], message["port"], message["pid"], message["seconds"])
        message["held"] = self._machines[held.name] = held

    def _lose(self, why: str) -> None:
        with self._lock:
            self._lost = why
            pending, machines = list(self._pending.values()), list(self._machines.values())
            self._machines.clear()
        for held in machines:
            held.end(why)
        for waiting in (self._started, *pending):
            if not waiting.done() and waiting.set_running_or_notify_cancel():
                waiting.set_exception(SupervisorLost(why))


def _start(fd: int, overlays: Path) -> "subprocess.Popen[bytes]":
    # A cleared environment: nothing of the worker's, above all no secret, is handed on.
    environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONPATH": str(CHECKOUT)}
    if "TMPDIR" in os.environ:
        environment["TMPDIR"] = os.environ["TMPDIR"]
    # -S: it needs nothing but the standard library, and starts faster for it.
    words = [sys.executable, "-S", "-m", "worker.qemu.supervisor", "--fd", str(fd), "--overlays", str(overlays)]
    return subprocess.Popen(
        words, pass_fds=[fd], stdin=subprocess.DEVNULL, env=environment, cwd="/", start_new_session=True
    )
