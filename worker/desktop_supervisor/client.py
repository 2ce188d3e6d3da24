"""The worker's client of the desktop supervisor. Thread-safe."""

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

from worker.base.errors import CodedError
from worker.base.rpc import Message, RpcConnection
from worker.desktop_supervisor import MAX_MESSAGE
from worker.local.limits import DesktopLimits

CHECKOUT = Path(__file__).resolve().parents[2]
_START_SECONDS = 150.0
"""Seconds. The first start on a machine compiles the guest server."""
_STOP_SECONDS = 15.0
_NOBODY = 0
"""Placeholder for a request number, which start at 1."""


class DesktopSupervisorError(CodedError):
    """The desktop supervisor could not do what was requested; has the code of its response.

    Attributes:
        kind: `cluster` if this machine could not create the desktop, `guest` if the desktop itself failed.
    """

    def __init__(self, message: str, kind: str = "cluster", *, code: str = "") -> None:
        super().__init__(message, code=code)
        self.kind = kind


class DesktopSupervisorLost(DesktopSupervisorError):
    """The desktop supervisor died, and every desktop with it."""

    code = "supervisor_lost"


@dataclass
class DesktopHandle:
    """A desktop of the supervisor.

    Attributes:
        socket: path of the guest API's unix socket.
        pid: process id of its first process on the host.
        user: its user id on the host, None if it shares the supervisor's.
        home, limits, notes, seconds: how it was created, for the record.
        session_report: the session's report when it was ready.
        dead: why it ended; empty while it runs.
        ending: cause and facts of its end, as the supervisor knows them.
        usage: resources used, once it has ended.
        ended: set when none of its processes and files are left.
    """

    name: str
    socket: str
    pid: int
    user: int | None
    home: str
    limits: dict[str, str]
    notes: list[str]
    seconds: float
    session_report: dict[str, Any]
    usage: dict[str, Any] = field(default_factory=dict)
    dead: str = ""
    ending: dict[str, Any] = field(default_factory=dict)
    ended: threading.Event = field(default_factory=threading.Event)

    def end(self, why: str, ending: dict[str, Any], usage: dict[str, Any] | None = None) -> None:
        """Records its end; the first reason is kept."""
        if not self.dead:
            self.dead, self.ending = why, ending
        self.usage = usage or self.usage
        self.ended.set()


@dataclass(frozen=True)
class DesktopSupervisorOptions:
    """How to start a desktop supervisor.

    Attributes:
        cache: folder for the compiled guest server.
        server, site: the guest_server package; the third-party packages of the desktop's Python.
        private: folders that must not be visible in desktops.
        wine: template of desktops with Windows programs; may be missing.
        prefix: words before the command, for example to change the user.
        checkout, python: where `worker` is imported from, and by which interpreter.
        overlay, groups: False = do not use overlay homes or control groups even if available.
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
        """The supervisor's command line; `fd` is its end of the socket pair."""
        config = {
            "cache": str(self.cache),
            "server": str(self.server),
            "site": str(self.site),
            "private": [str(path) for path in (*self.private, self.cache)],
            "wine": str(self.wine),
            "overlay": self.overlay,
            "groups": self.groups,
        }
        # -S: it needs only the standard library and starts faster.
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
    """One desktop supervisor process and the connection to it."""

    gone = "the desktop supervisor died, and its desktops with it"

    def __init__(self, options: DesktopSupervisorOptions) -> None:
        """Starts the supervisor and waits until it is ready.

        Raises:
            DesktopSupervisorError: it could not start; the message has the reason.
        """
        self._desktops: dict[str, DesktopHandle] = {}
        self._noting = threading.Lock()
        self._started: Future[Message] = Future()
        ours, theirs = socket.socketpair()
        with theirs:
            # A clean environment: nothing of the worker's, above all no secret, is inherited.
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
        self._conversation = RpcConnection(ours, self, name="supervisor", most=MAX_MESSAGE)
        self._conversation.begin()
        self.about = self._wait_started()

    def _wait_started(self) -> dict[str, Any]:
        try:
            return self._started.result(_START_SECONDS)
        except (DesktopSupervisorError, TimeoutError) as error:
            self.close()
            raise DesktopSupervisorError(
                f"the desktop supervisor did not start: {error}", code="supervisor_not_started"
            ) from error

    @property
    def pid(self) -> int:
        """The supervisor's process id."""
        return self._process.pid

    def alive(self) -> bool:
        """False once it is known to be gone."""
        return not self._conversation.over

    # ---- requests by a worker

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
        """Starts a desktop and waits until its guest API responds.

        Args:
            screen: width and height in pixels.
            limits: resource limits.
            secret: bearer secret of its guest API.
            timeout: seconds until it must be ready.
            os: `linux`, or `windows` for one with Windows programs.
            command: command to run inside instead of the guest server's session.

        Raises:
            DesktopSupervisorError: it could not be created or did not become ready; nothing of it is left.
            DesktopSupervisorLost: the supervisor died.
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
        """Ends a desktop; returns its resource usage when every process, mount and file is gone. Safe to call twice.

        Raises:
            DesktopSupervisorError: it could not be ended.
        """
        if not self.alive():
            return desktop.usage
        with contextlib.suppress(DesktopSupervisorLost):
            desktop.usage = (
                self._conversation.ask({"op": "destroy", "desktop": desktop.name}, _STOP_SECONDS)["usage"]
                or desktop.usage
            )
        return desktop.usage

    def status(self, seconds: float = 5.0) -> dict[str, Any]:
        """Name -> `{ready, pid, memory, hits, ending}` of every desktop. Raises DesktopSupervisorError."""
        desktops: dict[str, Any] = self._conversation.ask({"op": "status"}, seconds)["desktops"]
        return desktops

    def close(self) -> None:
        """Stops the supervisor; returns when it and all its desktops are gone. Safe to call twice."""
        self._conversation.say({"op": "stop"})
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._conversation.close(_STOP_SECONDS)

    # ---- protocol hooks: see `worker.base.rpc`

    def refused(self, answer: Message) -> DesktopSupervisorError:
        """The error reply as an exception."""
        return DesktopSupervisorError(answer["error"], answer["kind"], code=answer["code"])

    def late(self, what: str) -> DesktopSupervisorError:
        """Timeout; the request may still be in progress."""
        return DesktopSupervisorError(f"the desktop supervisor did not respond to {what}", code="supervisor_timeout")

    def lost(self, why: str) -> DesktopSupervisorLost:
        """No further request is possible."""
        return DesktopSupervisorLost(why)

    def news(self, message: Message) -> None:
        """Handles notifications: started, could not start, or a desktop is gone."""
        event = message["event"]
        if event == "started":
            self._started.set_result(message)
        elif event == "failed":
            self._started.set_exception(DesktopSupervisorError(message["error"]))
        elif event == "gone":
            with self._noting:
                desktop = self._desktops.pop(message["desktop"], None)
            if desktop is not None:
                desktop.end(message["why"], message["ending"], message["usage"])

    def answered(self, answer: Message, *, expected: bool) -> None:
        """Handles a started desktop. One for which nobody waits any more is destroyed."""
        if "desktop" not in answer:
            return
        if not expected:
            self._conversation.say({"op": "destroy", "desktop": answer["desktop"], "id": _NOBODY})
            return
        # Registered in the reader's order: the next message may be its end.
        with self._noting:
            answer["kept"] = self._desktops[answer["desktop"]] = _read_handle(answer)

    def died(self) -> None:
        """Its desktops ended with it."""
        with self._noting:
            desktops = list(self._desktops.values())
            self._desktops.clear()
        for desktop in desktops:
            desktop.end(self.gone, {"cause": "supervisor_ended"})
        if not self._started.done():
            self._started.set_exception(DesktopSupervisorLost(self.gone))


def _read_handle(message: dict[str, Any]) -> DesktopHandle:
    names = ("socket", "pid", "user", "home", "limits", "notes", "seconds", "session_report")
    return DesktopHandle(message["desktop"], *(message[name] for name in names))
