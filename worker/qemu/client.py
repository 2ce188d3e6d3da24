"""The worker's client of a supervisor. Thread-safe; requests are processed sequentially."""

import base64
import binascii
import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worker.base.errors import CodedError
from worker.base.rpc import Message
from worker.base.supervisor_client import NOBODY, SupervisorConnection
from worker.qemu.machine import MachineSpec

CHECKOUT = Path(__file__).resolve().parents[2]
CLOSED = "closed"
"""Reason for the end of a machine that is no longer needed."""
_STOP_SECONDS = 20.0
_QUICK_SECONDS = 15.0
START_SECONDS = 120.0
_FREEZE_SECONDS = 400.0


class SupervisorError(CodedError):
    """The supervisor could not do what was requested; has the code of its response."""


class SupervisorLost(SupervisorError):
    """The supervisor died, and its machines with it."""

    code = "supervisor_lost"


@dataclass
class VmHandle:
    """A machine of the supervisor.

    Attributes:
        port: of the supervisor's host, forwarded to the guest API.
        pid: process id of its QEMU.
        seconds: by phase.
        host: address of that port.
        dead: why it is unusable; empty while it is usable.
        cause: that as a value of backend.domain.machines.desktop_end.EndCause.
        ended: set when it is.
    """

    name: str
    port: int
    pid: int
    seconds: Mapping[str, float]
    host: str = "127.0.0.1"
    dead: str = ""
    cause: str = ""
    ended: threading.Event = field(default_factory=threading.Event)

    def end(self, reason: str, cause: str) -> None:
        """Records its end; the first reason is kept."""
        if not self.dead:
            self.dead, self.cause = reason, cause
        self.ended.set()

    def lose(self, reason: str) -> None:
        self.end(reason, "supervisor_ended")


class SupervisorClient(SupervisorConnection[VmHandle]):
    """Connection to one supervisor, wherever it runs."""

    title = "the supervisor of virtual machines"
    gone = "the supervisor of virtual machines died, and its machines with it"
    error, lost_error = SupervisorError, SupervisorLost
    start_seconds = 30.0

    def __init__(self, connection: socket.socket, *, host: str = "127.0.0.1") -> None:
        """Wraps a connection on which the supervisor is about to report its start.

        Args:
            connection: to it.
            host: address of its machines' guest APIs.
        """
        self._host = host
        super().__init__(connection)

    # ---- requests

    def start(self, kind: str, machine: MachineSpec, *, secret: str = "", folder: Path | None = None) -> VmHandle:
        """Starts a machine; see `VmSlot.start`.

        Raises:
            SupervisorError: it could not be started; nothing of it is left.
        """
        request = {"op": "start", "kind": kind, "machine": machine.to_json(), "secret": secret}
        handle: VmHandle = self.request_field(
            "handle", request | ({"place": str(folder)} if folder else {}), START_SECONDS
        )
        return handle

    def freeze(self, handle: VmHandle, folder: Path) -> Mapping[str, float]:
        """Makes a template from a master. Returns seconds by phase. Raises SupervisorError."""
        request = {"op": "freeze", "machine": handle.name, "place": str(folder)}
        seconds: Mapping[str, float] = self.request_field("seconds", request, _FREEZE_SECONDS)
        return seconds

    def picture(self, handle: VmHandle) -> bytes:
        """The machine's screen as PNG, independent of its guest. Raises SupervisorError."""
        try:
            return base64.b64decode(self.request_field("png", {"op": "picture", "machine": handle.name}))
        except (binascii.Error, TypeError) as error:
            raise SupervisorError("the supervisor sent no valid picture", code="invalid_response") from error

    def private_bytes(self, handle: VmHandle) -> int:
        """Memory that belongs to this machine alone. Raises SupervisorError."""
        try:
            return int(self.request_field("bytes", {"op": "memory", "machine": handle.name}))
        except (ValueError, TypeError) as error:
            raise SupervisorError("the supervisor sent no valid number of bytes", code="invalid_response") from error

    def end(self, handle: VmHandle) -> None:
        """Ends a machine; nothing of it is left then. Safe to call twice.

        Raises:
            SupervisorError: It does not end.
        """
        if self.alive():
            with contextlib.suppress(SupervisorLost):
                self.ask({"op": "end", "machine": handle.name})
        with self._noting:
            self._handles.pop(handle.name, None)
        handle.end(CLOSED, "removed")

    def ask(self, question: Message, seconds: float = _QUICK_SECONDS) -> Message:
        """Any request that `worker.qemu.supervisor` supports. Raises SupervisorError."""
        return self._conversation.ask(question, seconds)

    def request_field(self, field: str, question: Message, seconds: float = _QUICK_SECONDS) -> Any:
        """One field of the response. Raises SupervisorError, also if the field is missing."""
        answer = self.ask(question, seconds)
        if field not in answer:
            raise SupervisorError(
                f"the supervisor's response to {question['op']!r} has no {field!r}", code="invalid_response"
            )
        return answer[field]

    def close(self) -> None:
        """Disconnects; returns when its machines are gone, unless it no longer responds. Safe to call twice."""
        with contextlib.suppress(SupervisorError):
            self.ask({"op": "stop"}, _STOP_SECONDS)
        self._conversation.close(_STOP_SECONDS)

    # ---- protocol hooks: see `worker.base.rpc`

    def news(self, message: Message) -> None:
        """Handles notifications: started, or a machine cannot continue."""
        if message["event"] == "started":
            self._started.set_result(message)
        elif message["event"] == "refused":
            self.gone = str(message["why"])
        elif message["event"] == "gone":
            with self._noting:
                handle = self._handles.get(message["machine"])
            if handle is not None:
                handle.end(str(message["why"]), str(message.get("cause", "")))

    def answered(self, answer: Message, *, expected: bool) -> None:
        """Handles a started machine. A machine that no caller waits for is ended."""
        if "port" not in answer:
            return
        if not expected:
            self._conversation.say({"op": "end", "machine": answer["machine"], "id": NOBODY})
            return
        handle = VmHandle(answer["machine"], answer["port"], answer["pid"], answer["seconds"], self._host)
        answer["handle"] = self._register(handle.name, handle)


class SlotSupervisor(SupervisorClient):
    """One supervisor process of this host, and the connection to it."""

    def __init__(self, overlays: Path) -> None:
        """Starts it and waits until it is ready.

        Args:
            overlays: existing folder with room for machines' writes.

        Raises:
            SupervisorError: It could not start.
        """
        own_end, child_end = socket.socketpair()
        with child_end:
            self._process = start_process(child_end.fileno(), overlays)
        super().__init__(own_end)
        message = self._wait_started()
        self.folder, self.qemu = Path(message["folder"]), str(message["qemu"])

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        """Stops it; returns when it and all its machines are gone. Safe to call twice."""
        with contextlib.suppress(SupervisorError):
            self.ask({"op": "stop"}, _STOP_SECONDS)
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._conversation.close(_STOP_SECONDS)


def clean_environment() -> dict[str, str]:
    """Environment for our processes beside QEMU: nothing of the worker's, above all no secret, is inherited."""
    environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONPATH": str(CHECKOUT)}
    return environment | ({"TMPDIR": os.environ["TMPDIR"]} if "TMPDIR" in os.environ else {})


def start_process(fd: int, overlays: Path) -> "subprocess.Popen[bytes]":
    """Starts the supervisor. Args: fd: its end of the connection; overlays: as of `SlotSupervisor`."""
    # -S: it needs only the standard library and starts faster.
    words = [sys.executable, "-S", "-m", "worker.qemu.supervisor", "--fd", str(fd), "--overlays", str(overlays)]
    return subprocess.Popen(
        words, pass_fds=[fd], stdin=subprocess.DEVNULL, env=clean_environment(), cwd="/", start_new_session=True
    )
