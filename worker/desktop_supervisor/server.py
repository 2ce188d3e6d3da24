"""The desktop supervisor: serves the worker's requests, starts and ends desktops, and exits with the worker."""

import contextlib
import os
import shutil
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worker.base.json_lines import LineDecoder, LineError, encode
from worker.desktop_supervisor import MAX_MESSAGE, folders, watchdog
from worker.desktop_supervisor.desktop import PIPES, StartSpec, SupervisedDesktop
from worker.desktop_supervisor.loop import Loop
from worker.desktop_supervisor.shutdown import DesktopShutdown
from worker.local import cgroups, guest_tree, home, kernel, wine
from worker.local.desktop_kind import DesktopKind, linux
from worker.local.layout import hidden_folders
from worker.local.limits import DesktopLimits
from worker.local.uids import UserNumbers

_FLOOD_PAUSE = 0.05
"""Seconds between two reads of a running desktop's pipe: a desktop that floods it blocks itself, not the supervisor."""
_END_SECONDS = 8.0
_SWEEP_SECONDS = 5.0
"""How often to look for what dead supervisors left: a process that one was just starting may hold its lock longer than
the supervisor lives."""


@dataclass(frozen=True)
class Config:
    """Paths and options of a desktop supervisor.

    Attributes:
        cache: persistent folder with the compiled guest server.
        server: the guest_server package.
        site: third-party packages of the desktop's Python.
        private: folders that must not be visible in desktops.
        wine: template of desktops with Windows programs; may be missing.
        overlay: False = homes are always copies.
        groups: False = control groups are not used.
    """

    cache: Path
    server: Path
    site: Path
    private: tuple[Path, ...] = ()
    wine: Path | None = None
    overlay: bool = True
    groups: bool = True


class DesktopSupervisor:
    """Starts, watches and ends desktops for one worker."""

    def __init__(self, connection: socket.socket, config: Config, worker: int) -> None:
        """Sweeps after dead supervisors and prepares to serve.

        Args:
            connection: to the worker.
            config: paths and options.
            worker: the worker's process id.

        Raises:
            OSError, ValueError: this machine or installation cannot run desktops; the message has the reason.
        """
        kernel.adopt_orphans()
        self._connection, self._config = connection, config
        self._decoder, self._loop = LineDecoder(MAX_MESSAGE), Loop()
        self._serial, self._running = 0, True
        self._swept = folders.sweep(folders.base_folder())
        self._folder = folders.DesktopSupervisorDir()
        parents = cgroups.here() if config.groups else {}
        self._groups = cgroups.Cgroups(f"deskarena-{self._folder.name}", parents)
        self._folder.note_groups(self._groups.folders())
        self._numbers = UserNumbers()
        self._desktops: dict[str, SupervisedDesktop] = {}
        self._ending = DesktopShutdown(self._loop, self._folder.name, self._report_gone)
        self._waiting: dict[str, list[dict[str, Any]]] = {}
        self._guest = guest_tree.prepare(config.cache, config.server, config.site)
        self._flavours = _flavours(config.wine, self._guest)
        self._hide = hidden_folders([*config.private, self._folder.path])
        self._bwrap = shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin")
        self._watch_worker(worker)
        self._watch_signals()

    def _watch_worker(self, worker: int) -> None:
        """Watches the connection and the worker's process: one of its children may keep the connection open."""
        self._loop.listen(self._connection.fileno(), self._hear)
        self._loop.listen(os.pidfd_open(worker), self._stop)
        if os.getppid() != worker:
            self._stop()

    def _watch_signals(self) -> None:
        read, write = os.pipe()
        os.set_blocking(read, False)
        os.set_blocking(write, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: self._stop())
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._loop.listen(read, lambda: self._reap(read))

    def _stop(self) -> None:
        self._running = False

    def run(self) -> None:
        """Serves until the worker is gone or requests the stop, then ends every desktop."""
        folder = {"supervisor": self._folder.name, "folder": str(self._folder.path)}
        fields = {**folder, "swept": self._swept, "limits": self._limits()}
        self._tell({"event": "started", **fields})
        self._measure()
        self._loop.later(_SWEEP_SECONDS, self._sweep)
        try:
            while self._running:
                self._loop.turn(60.0)
        finally:
            self._end()

    def _measure(self) -> None:
        self._loop.later(watchdog.measure_all(list(self._desktops.values())), self._measure)

    def _sweep(self) -> None:
        with contextlib.suppress(OSError):  # What does not end at once is looked for again.
            folders.sweep(folders.base_folder(), timeout=0.0)
        self._loop.later(_SWEEP_SECONDS, self._sweep)

    def _end(self) -> None:
        """Ends all desktops, waits for them and removes everything that belongs to us."""
        for desktop in self._desktops.values():
            desktop.kill("the desktop supervisor was stopped", "supervisor_ended")
        deadline = time.monotonic() + _END_SECONDS
        while self._desktops and time.monotonic() < deadline:
            self._loop.turn(0.05)
        self._groups.remove()
        self._folder.remove()
        self._tell({"event": "stopped", "left": sorted(self._desktops)})

    # ---- requests of the worker

    def _hear(self) -> None:
        try:
            data = self._connection.recv(65536)
            messages = self._decoder.feed(data)
        except (OSError, LineError):
            data, messages = b"", []
        if not data:
            self._loop.forget(self._connection.fileno())
            self._stop()
        for message in messages:
            self._answer(message)

    def _tell(self, message: dict[str, Any]) -> None:
        try:
            self._connection.sendall(encode(message, MAX_MESSAGE))
        except OSError:
            self._stop()

    def _answer(self, message: dict[str, Any]) -> None:
        """Handles one request. Spawn and destroy are answered later, by the event that they wait for."""
        operation = message.get("op")
        if operation == "spawn":
            self._spawn(message)
        elif operation == "destroy":
            self._destroy(message)
        elif operation == "status":
            states = {name: desktop.state() for name, desktop in self._desktops.items()}
            self._tell({"id": message["id"], "ok": True, "desktops": states})
        elif operation == "stop":
            self._stop()
        else:
            self._refuse(message, f"unknown operation {operation!r}", code="invalid_request")

    def _refuse(self, message: dict[str, Any], reason: str, *, code: str, kind: str = "cluster") -> None:
        self._tell({"id": message.get("id"), "ok": False, "kind": kind, "code": code, "error": reason})

    def _limits(self) -> dict[str, str]:
        """How resources of a desktop are limited here, as text."""
        by_group = self._groups.versions()
        return {
            "memory": by_group.get("memory", "watchdog"),
            "processes": by_group.get("pids", "RLIMIT_NPROC in its own user namespace"),
            "cpu": by_group.get("cpu", "none"),
            "user": "own number" if os.getuid() == 0 else "user namespace",
        }

    def _missing_limits(self) -> list[str]:
        """Why control groups do not limit a resource here, by resource."""
        return [f"no control group limits {name}: {reason}" for name, reason in sorted(self._groups.why_not.items())]

    # ---- starting desktops

    def _spawn(self, message: dict[str, Any]) -> None:
        try:
            desktop = self._new(message)
        except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
            self._refuse(message, f"{type(error).__name__}: {error}", code="not_created")
            return
        self._waiting[desktop.name] = [message]
        try:
            if self._groups.bases:
                desktop.group = self._groups.create(desktop.name, desktop.limits)
            desktop.start(self._start_spec(desktop, message))
        except (OSError, ValueError) as error:
            desktop.error = f"{type(error).__name__}: {error}"
            self._ending.check(desktop)
            return
        for name in PIPES:
            self._listen(desktop, name)
        self._loop.later(desktop.deadline - time.monotonic(), lambda: self._too_late(desktop))

    def _new(self, message: dict[str, Any]) -> SupervisedDesktop:
        if self._bwrap is None:
            raise FileNotFoundError("bubblewrap is not installed. Install the package `bubblewrap`.")
        limits = DesktopLimits.from_json(message["limits"])
        deadline = time.monotonic() + float(message["ready_timeout"])
        self._serial += 1
        name = f"d{self._serial}"
        self._flavour_of(message)
        user = self._numbers.take() if os.getuid() == 0 else None
        desktop = SupervisedDesktop(name, self._folder.path / name, limits, user, deadline)
        self._desktops[name] = desktop
        return desktop

    def _start_spec(self, desktop: SupervisedDesktop, message: dict[str, Any]) -> StartSpec:
        flavour = self._flavour_of(message)
        user, group = (os.getuid(), os.getgid()) if desktop.user is None else (desktop.user, desktop.user)
        width, height = message["screen"]
        return StartSpec(
            title=folders.title(self._folder.name, desktop.name),
            bwrap=str(self._bwrap),
            template=home.template_for(self._folder.path, user, group, source=flavour.home, key=flavour.key),
            guest=self._guest,
            hide=self._hide,
            screen=(int(width), int(height)),
            flavour=flavour,
            secret=str(message["secret"]),
            overlay=self._config.overlay,
            command=tuple(str(word) for word in message.get("command", ())),
        )

    def _flavour_of(self, message: dict[str, Any]) -> DesktopKind:
        system = str(message.get("os", "linux"))
        if system not in self._flavours:
            raise ValueError(f"{system} desktops are not available here")
        return self._flavours[system]

    def _listen(self, desktop: SupervisedDesktop, name: str) -> None:
        fd = desktop.pipes[name]
        if fd >= 0:
            self._loop.listen(fd, lambda: self._read(desktop, name))

    def _read(self, desktop: SupervisedDesktop, name: str) -> None:
        was_ready, fd = desktop.ready, desktop.pipes[name]
        more = desktop.feed(name)
        if not more or was_ready:
            self._loop.forget(fd)
        if not more:
            desktop.close_pipe(name)
        elif was_ready:
            self._loop.later(_FLOOD_PAUSE, lambda: self._listen(desktop, name))
        self._ending.expect(desktop)
        if desktop.ready and not was_ready:
            self._ready(desktop)

    def _ready(self, desktop: SupervisedDesktop) -> None:
        facts = desktop.facts() | {"ok": True, "limits": self._limits()}
        facts["notes"] = [*desktop.notes, *self._missing_limits()]
        for message in self._waiting.pop(desktop.name, []):
            self._tell({"id": message["id"], **facts})

    def _too_late(self, desktop: SupervisedDesktop) -> None:
        if not desktop.ready and not desktop.gone:
            desktop.kill(f"its guest API was not ready in time. {desktop.last_words()}".strip(), "not_ready")

    # ---- ending desktops

    def _destroy(self, message: dict[str, Any]) -> None:
        desktop = self._desktops.get(str(message.get("desktop")))
        if desktop is None:
            self._tell({"id": message["id"], "ok": True, "usage": {}})
            return
        self._waiting.setdefault(desktop.name, []).append(message)
        desktop.kill("destroyed")

    def _reap(self, wakeup: int) -> None:
        """Reaps ended children: bubblewrap processes, and orphans that were reparented to us."""
        os.read(wakeup, 4096)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for desktop in list(self._desktops.values()):
                if desktop.outer == pid:
                    desktop.outer, desktop.exit_status = 0, os.waitstatus_to_exitcode(status)
                    self._ending.check(desktop)

    def _report_gone(self, desktop: SupervisedDesktop) -> None:
        """Reports to waiting requests that nothing of it is left."""
        if desktop.user is not None:
            self._numbers.give_back(desktop.user)
        del self._desktops[desktop.name]
        # Notification first, then the answers: callers then know its end, too.
        end = {"why": desktop.verdict, "usage": desktop.usage, "ending": desktop.ending}
        self._tell({"event": "gone", "desktop": desktop.name, **end})
        for message in self._waiting.pop(desktop.name, []):
            if message["op"] == "spawn":
                refused = desktop.refused_by_sandbox()
                code, kind = ("sandbox_failed", "cluster") if refused else (desktop.ending["cause"], "guest")
                self._refuse(message, desktop.verdict, code=code, kind=kind)
            else:
                self._tell({"id": message["id"], "ok": True, "usage": desktop.usage})


def _flavours(folder: Path | None, guest: Path) -> dict[str, DesktopKind]:
    """Kinds of desktops that can be created, by operating system."""
    flavours = [linux()]
    if folder is not None and not wine.why_not(folder):
        flavours.append(wine.flavour(folder, guest))
    return {flavour.name: flavour for flavour in flavours}
