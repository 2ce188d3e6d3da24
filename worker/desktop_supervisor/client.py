"""The worker's client of the desktop supervisor. Thread-safe."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worker.base.errors import CodedError
from worker.base.rpc import Message
from worker.base.supervisor_client import NOBODY, SupervisorConnection
from worker.desktop_supervisor import MAX_MESSAGE
from worker.local.limits import DesktopLimits

CHECKOUT = Path(__file__).resolve().parents[2]
_STOP_SECONDS = 15.0


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

    def end(self, reason: str, ending: dict[str, Any], usage: dict[str, Any] | None = None) -> None:
        """Records its end; the first reason is kept."""
        if not self.dead:
            self.dead, self.ending = reason, ending
        self.usage = usage or self.usage
        self.ended.set()

    def lose(self, reason: str) -> None:
        self.end(reason, {"cause": "supervisor_ended"})


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


class DesktopSupervisorClient(SupervisorConnection[DesktopHandle]):
    """One desktop supervisor process and the connection to it."""

    title = "the desktop supervisor"
    gone = "the desktop supervisor died, and its desktops with it"
    error, lost_error = DesktopSupervisorError, DesktopSupervisorLost
    start_seconds = 150.0  # The first start on a machine compiles the guest server.

    def __init__(self, options: DesktopSupervisorOptions) -> None:
        """Starts the supervisor and waits until it is ready.

        Raises:
            DesktopSupervisorError: it could not start; the message has the reason.
        """
        own_end, child_end = socket.socketpair()
        with child_end:
            # A clean environment: nothing of the worker's, above all no secret, is inherited.
            environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONPATH": str(options.checkout)}
            if "TMPDIR" in os.environ:
                environment["TMPDIR"] = os.environ["TMPDIR"]
            self._process = subprocess.Popen(
                options.command(child_end.fileno()),
                pass_fds=[child_end.fileno()],
                stdin=subprocess.DEVNULL,
                env=environment,
                cwd="/",
                start_new_session=True,
            )
        super().__init__(own_end, most=MAX_MESSAGE)
        self.about = self._wait_started()

    @property
    def pid(self) -> int:
        """The supervisor's process id."""
        return self._process.pid

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
        handle: DesktopHandle = self._conversation.ask(request, timeout + 15.0)["handle"]
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
        return DesktopSupervisorError(answer["error"], answer["kind"], code=answer["code"])

    def news(self, message: Message) -> None:
        """Handles notifications: started, could not start, or a desktop is gone."""
        event = message["event"]
        if event == "started":
            self._started.set_result(message)
        elif event == "failed":
            self._started.set_exception(DesktopSupervisorError(message["error"]))
        elif event == "gone":
            with self._noting:
                desktop = self._handles.pop(message["desktop"], None)
            if desktop is not None:
                desktop.end(message["why"], message["ending"], message["usage"])

    def answered(self, answer: Message, *, expected: bool) -> None:
        """Handles a started desktop. A desktop that no caller waits for is destroyed."""
        if "desktop" not in answer:
            return
        if not expected:
            self._conversation.say({"op": "destroy", "desktop": answer["desktop"], "id": NOBODY})
            return
        answer["handle"] = self._register(answer["desktop"], _read_handle(answer))


def _read_handle(message: dict[str, Any]) -> DesktopHandle:
    names = ("socket", "pid", "user", "home", "limits", "notes", "seconds", "session_report")
    return DesktopHandle(message["desktop"], *(message[name] for name in names))
