"""The worker's side of the keeper. Safe for threads."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worker.desktop_supervisor import protocol
from worker.local.limits import DesktopLimits
from worker.local.rpc import Message, RpcConnection

CHECKOUT = Path(__file__).resolve().parents[2]
_START_SECONDS = 150.0
"""The first start on a machine compiles the guest server."""
_STOP_SECONDS = 15.0
_NOBODY = 0
"""Instead of a request's number, which begin at 1."""


class DesktopSupervisorError(Exception):
    """The keeper could not do what was asked.

    Attributes:
        kind: `cluster` if this machine could not make the desktop, `guest` if the desktop itself failed.
    """

    def __init__(self, message: str, kind: str = "cluster") -> None:
        super().__init__(message)
        self.kind = kind


class DesktopSupervisorLost(DesktopSupervisorError):
    """The keeper died, and every desktop with it."""


@dataclass
class DesktopHandle:
    """A desktop that the keeper holds.

    Attributes:
        socket: path of the guest API's unix socket.
        pid: host process id of its first process.
        user: its user number outside, None if it shares the keeper's.
        home, limits, notes, seconds: how it was made, for the record.
        said: what the session said when it was ready.
        dead: why it ended; empty while it lives.
        usage: what it used, once it has ended.
        ended: set when the keeper has told that nothing of it is left.
    """

    name: str
    socket: str
    pid: int
    user: int | None
    home: str
    limits: dict[str, str]
    notes: list[str]
    seconds: float
    said: dict[str, Any]
    usage: dict[str, Any] = field(default_factory=dict)
    dead: str = ""
    ended: threading.Event = field(default_factory=threading.Event)

    def end(self, why: str, usage: dict[str, Any] | None = None) -> None:
        """Notes its end; the first reason is kept."""
        self.dead = self.dead or why
        self.usage = usage or self.usage
        self.ended.set()


@dataclass(frozen=True)
class DesktopSupervisorOptions:
    """How to start a keeper.

    Attributes:
        cache: folder in which the compiled guest server is kept.
        server, site: the guest_server package; the third-party packages of the desktop's Python.
        private: folders that no desktop may see.
        wine: what desktops with Windows programs start from; it may be missing.
        prefix: command words before the keeper's own, for example to change the user.
        checkout, python: where `worker` is imported from, and by which interpreter.
        overlay, groups: False = do without overlay homes or control groups even where they can be had.
    """

    cache: Path
    server: Path = CHECKOUT / "vm_images" / "guest_server"
    site: Path = CHECKOUT / ".guest-site"
    private: tuple[Path, ...] = (CHECKOUT,)
    wine: Path = CHECKOUT / ".wine"
    prefix: tuple[str, ...] = ()
    checkout: Path = CHECKOUT
    python: str = sys.executable
    overlay: bool = True
    groups: bool = True

    def command(self, fd: int) -> list[str]:
        """The keeper's command line; `fd` is its end of the socket pair."""
        config = {
            "cache": str(self.cache),
            "server": str(self.server),
            "site": str(self.site),
            "private": [str(path) for path in (*self.private, self.cache)],
            "wine": str(self.wine),
            "overlay": self.overlay,
            "groups": self.groups,
        }
        # -S: the keeper needs nothing but the standard library, and starts faster for it.
        return [
            *self.prefix,
            self.python,
            "-S",
            "-m",
            "worker.desktop_supervisor",
            str(fd),
            str(os.getpid()),
            json.dumps(config),
        ]


class DesktopSupervisorClient:
    """One keeper process and the conversation with it."""

    gone = "the keeper died, and its desktops with it"

    def __init__(self, options: DesktopSupervisorOptions) -> None:
        """Starts the keeper and waits until it serves.

        Raises:
            DesktopSupervisorError: it could not start; the message says why.
        """
        self._desktops: dict[str, DesktopHandle] = {}
        self._noting = threading.Lock()
        self._started: Future[Message] = Future()
        ours, theirs = socket.socketpair()
        with theirs:
            # A cleared environment: nothing of the worker's, above all no secret, is handed on.
            environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONPATH": str(options.checkout)}
            if "TMPDIR" in os.environ:
                environment["TMPDIR"] = os.environ["TMPDIR"]
            self._process = subprocess.Popen(
                options.command(theirs.fileno()),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=environment,
                cwd="/",
                start_new_session=True,
            )
        self._conversation = RpcConnection(ours, self, name="keeper")
        self._conversation.begin()
        self.about = self._wait_started()

    def _wait_started(self) -> dict[str, Any]:
        try:
            return self._started.result(_START_SECONDS)
        except (DesktopSupervisorError, TimeoutError) as error:
            self.close()
            raise DesktopSupervisorError(f"the keeper did not start: {error}") from error

    @property
    def pid(self) -> int:
        """The keeper's process id."""
        return self._process.pid

    def alive(self) -> bool:
        """False once it is known to be gone."""
        return not self._conversation.over

    # ---- what a worker can ask

    def spawn(  # noqa: PLR0913 - what a desktop is made of
        self,
        *,
        secret: str,
        screen: tuple[int, int],
        limits: DesktopLimits,
        timeout: float,
        os: str = "linux",
        command: Sequence[str] = (),
    ) -> DesktopHandle:
        """Starts a desktop and waits until its guest API answers.

        Args:
            screen: width and height in pixels.
            limits: what it may use up.
            secret: what requests to its guest API must carry.
            timeout: seconds until it must be ready.
            os: `linux`, or `windows` for one with Windows programs.
            command: what runs inside instead of the guest server's session.

        Raises:
            DesktopSupervisorError: it could not be made or never became ready; nothing of it is left.
            DesktopSupervisorLost: the keeper died.
        """
        request = {
            "op": "spawn",
            "secret": secret,
            "screen": list(screen),
            "limits": limits.to_json(),
            "ready_timeout": timeout,
            "os": os,
            "command": list(command),
        }
        handle: DesktopHandle = self._conversation.ask(request, timeout + 15.0)["kept"]
        return handle

    def destroy(self, desktop: DesktopHandle) -> dict[str, Any]:
        """Ends a desktop; returns what it used when every process, mount and file is gone. Safe to call twice.

        Raises:
            DesktopSupervisorError: it would not go.
        """
        if not self.alive():
            return desktop.usage
        with contextlib.suppress(DesktopSupervisorLost):
            desktop.usage = (
                self._conversation.ask({"op": "destroy", "desktop": desktop.name}, _STOP_SECONDS)["usage"]
                or desktop.usage
            )
        return desktop.usage

    def status(self) -> dict[str, Any]:
        """Name to `{ready, pid, memory, hits}` of every desktop. Raises DesktopSupervisorError."""
        desktops: dict[str, Any] = self._conversation.ask({"op": "status"}, 5.0)["desktops"]
        return desktops

    def close(self) -> None:
        """Stops the keeper; returns when it and all its desktops are gone. Safe to call twice."""
        self._conversation.say({"op": "stop"})
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._conversation.close(_STOP_SECONDS)

    # ---- manners: see `worker.local.rpc`

    def encode(self, message: Message) -> bytes:
        """After its length."""
        return protocol.encode(message)

    def decoder(self) -> protocol.MessageDecoder:
        """Of such messages."""
        return protocol.MessageDecoder()

    def refused(self, answer: Message) -> DesktopSupervisorError:
        """In its own words."""
        return DesktopSupervisorError(answer["error"], answer["kind"])

    def late(self, what: str) -> DesktopSupervisorError:
        """It may still be doing it."""
        return DesktopSupervisorError(f"the keeper did not answer {what}")

    def lost(self, why: str) -> DesktopSupervisorLost:
        """Nothing can be asked any more."""
        return DesktopSupervisorLost(why)

    def news(self, message: Message) -> None:
        """That it has started, could not start, or that a desktop is gone."""
        event = message["event"]
        if event == "started":
            self._started.set_result(message)
        elif event == "failed":
            self._started.set_exception(DesktopSupervisorError(message["error"]))
        elif event == "gone":
            with self._noting:
                desktop = self._desktops.pop(message["desktop"], None)
            if desktop is not None:
                desktop.end(message["why"], message["usage"])

    def answered(self, answer: Message, *, expected: bool) -> None:
        """Notes a desktop. One for which nobody waits any more is destroyed, and nobody hears of it."""
        if "desktop" not in answer:
            return
        if not expected:
            self._conversation.say({"op": "destroy", "desktop": answer["desktop"], "id": _NOBODY})
            return
        # Noted in the reader's order: news of its end may be the very next message.
        with self._noting:
            answer["kept"] = self._desktops[answer["desktop"]] = _read_handle(answer)

    def died(self) -> None:
        """Its desktops went with it."""
        with self._noting:
            desktops = list(self._desktops.values())
            self._desktops.clear()
        for desktop in desktops:
            desktop.end(self.gone)
        if not self._started.done():
            self._started.set_exception(DesktopSupervisorLost(self.gone))


def _read_handle(message: dict[str, Any]) -> DesktopHandle:
    names = ("socket", "pid", "user", "home", "limits", "notes", "seconds", "said")
    return DesktopHandle(message["desktop"], *(message[name] for name in names))
