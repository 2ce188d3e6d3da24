"""One desktop as its supervisor sees it: a forked process that becomes bubblewrap, four pipes, and its end."""

import json
import os
import shutil
import signal
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worker.local import ca_bundle, sandbox_init, seccomp, watchdog
from worker.local.cgroups import DesktopCgroups
from worker.local.desktop_kind import DesktopKind
from worker.local.limits import MIB, DesktopLimits

WAY_OUT = "out"
"""Folder beside the guest API's socket in which the worker opens the socket of the egress gateway."""
PIPES = ("report", "status", "stdout", "stderr")
"""Pipes that we read: the stage's report, bubblewrap's status, the session's two outputs."""
KILLED_STATUSES = frozenset({3, 128 + signal.SIGKILL})
"""Exit codes of a session in which SIGKILL ended a program (`guest_server.linux.services`), or the session itself."""
_FEW_PROCESSES = 16
"""Below its limit of processes; some may have ended just now."""
_TAIL = 4096
_MAX_TALK = 64 * 1024


@dataclass
class SupervisedDesktop:
    """A desktop and everything that must be removed after it.

    Attributes:
        name: unique in this supervisor.
        folder: private folder with the socket of the guest API.
        group: its control groups, None if there are none.
        user: its own user id on the host, None if it shares the supervisor's.
        outer: bubblewrap's process id; 0 once it is reaped.
        inner: host process id of process 1 in its namespace; 0 until known.
        inner_handle: a pidfd of `inner`; -1 once it is gone.
        ready, gone: its state. `stopping` is why we ended it, if we did, and `cause` that as a value for programs.
        ending: cause and facts of its end (backend.domain.machines.desktop_end.EndCause), once it has ended.
    """

    name: str
    folder: Path
    limits: DesktopLimits
    user: int | None
    deadline: float
    group: DesktopCgroups | None = None
    started: float = field(default_factory=time.monotonic)
    pipes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PIPES, -1))
    outer: int = 0
    inner: int = 0
    inner_handle: int = -1
    heard: int = 0
    ready: bool = False
    gone: bool = False
    stopping: str = ""
    cause: str = ""
    home: str = ""
    notes: list[str] = field(default_factory=list)
    error: str = ""
    exit_status: int | None = None
    peak_memory: int = 0
    buffers: dict[str, bytearray] = field(default_factory=lambda: {name: bytearray() for name in PIPES})
    session_report: dict[str, Any] = field(default_factory=dict)
    awaited: bool = False
    verdict: str = ""
    usage: dict[str, Any] = field(default_factory=dict)
    ending: dict[str, Any] = field(default_factory=dict)

    @property
    def socket_path(self) -> Path:
        """Path of the guest API's socket for the worker."""
        return self.folder / "api"

    @property
    def way_out(self) -> Path:
        """The only folder of the host that a desktop sees besides programs: its way out of the network namespace."""
        return self.folder / WAY_OUT

    def start(self, spec: "StartSpec") -> None:
        """Forks the process. Raises OSError."""
        self.folder.mkdir(mode=0o700)
        # The worker's gateway listens in it; the desktop's user must be able to enter.
        self.way_out.mkdir()
        self.way_out.chmod(0o755)
        ca_bundle.lay_out(self.way_out)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        theirs: dict[str, int] = {}
        try:
            listener.bind(str(self.socket_path))
            listener.listen(64)
            for name in PIPES:
                self.pipes[name], theirs[name] = os.pipe()
                os.set_blocking(self.pipes[name], False)
            theirs["stdin"], secret = os.pipe()
            with os.fdopen(secret, "wb") as pipe:
                pipe.write(spec.secret.encode() + b"\n")
            self._fork(spec, theirs, listener.fileno())
        finally:
            listener.close()
            for fd in theirs.values():
                os.close(fd)

    def _fork(self, spec: "StartSpec", theirs: dict[str, int], listener: int) -> None:
        entering = sandbox_init.SandboxInitSpec(
            title=spec.title,
            bwrap=spec.bwrap,
            entrances=tuple(self.group.entrances()) if self.group else (),
            user=None if self.user is None else (self.user, self.user),
            template=spec.template,
            guest=spec.guest,
            egress=self.way_out,
            hide=spec.hide,
            limits=self.limits,
            memory_group=self.bounded_by_group("memory"),
            screen=spec.screen,
            flavour=spec.flavour,
            stdin=theirs["stdin"],
            stdout=theirs["stdout"],
            stderr=theirs["stderr"],
            listener=listener,
            status=theirs["status"],
            overlay=spec.overlay,
            command=spec.command,
        )
        self.outer = os.fork()
        if self.outer == 0:
            sandbox_init.enter(entering, theirs["report"])

    def bounded_by_group(self, controller: str) -> bool:
        """Whether a control group limits this for the whole desktop."""
        return self.group is not None and controller in self.group.folders

    def feed(self, name: str) -> bool:
        """Reads from a pipe. False at its end. Never blocks."""
        try:
            data = os.read(self.pipes[name], 65536)
        except BlockingIOError:
            return True
        buffer = self.buffers[name]
        buffer += data
        if name == "stderr" or self.ready:
            del buffer[:-_TAIL]
        self.heard += len(data)
        if not self.ready and self.heard > _MAX_TALK:
            self.kill(f"its session wrote more than {_MAX_TALK} bytes before it was ready", "too_much_output")
        self._understand(name)
        return bool(data)

    def _understand(self, name: str) -> None:
        """Extracts complete JSON lines (or objects, for the stage's report) from a pipe's buffer."""
        if name == "report":
            self._take_report()
        elif name == "status":
            for value in self._lines(name):
                if "child-pid" in value and not self.inner:
                    self._meet(int(value["child-pid"]))
        elif name == "stdout" and not self.ready:
            for value in self._lines(name):
                if value.get("ready") is True:
                    self.ready, self.session_report = True, value

    def _take_report(self) -> None:
        text, decoder = self.buffers["report"].decode(errors="replace"), json.JSONDecoder()
        while text:
            value, end = decoder.raw_decode(text)
            text = text[end:].lstrip()
            self.home, self.notes = value.get("home", self.home), value.get("notes", self.notes)
            self.error = value.get("error", self.error)

    def _lines(self, name: str) -> list[dict[str, Any]]:
        *lines, remainder = bytes(self.buffers[name]).split(b"\n")
        self.buffers[name] = bytearray(remainder)
        values = []
        for line in lines:
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                values.append(value)
        return values

    def _meet(self, pid: int) -> None:
        """Stores process 1 of the namespace as a pidfd, which cannot refer to another process later."""
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        # If it had ended before we opened the pidfd, its number could belong to another process. Its parent must be
        # bubblewrap, or us if that has ended.
        if _parent_of(pid) in {self.outer, os.getpid()}:
            self.inner, self.inner_handle = pid, handle
        else:
            os.close(handle)

    def kill(self, reason: str, cause: str = "removed") -> None:
        """Kills every process at once; the first reason is kept. Safe to call twice."""
        if not self.stopping:
            self.stopping, self.cause = reason, cause
            self.measure()
        if self.inner_handle >= 0:
            _ignore_gone(lambda: signal.pidfd_send_signal(self.inner_handle, signal.SIGKILL))
        if self.outer:
            _ignore_gone(lambda: os.kill(self.outer, signal.SIGKILL))

    def close_inner(self) -> None:
        """Closes the pidfd of process 1, which has ended."""
        os.close(self.inner_handle)
        self.inner_handle = -1

    def close_pipe(self, name: str) -> None:
        """Closes our end of a pipe; safe to call twice."""
        if self.pipes[name] >= 0:
            os.close(self.pipes[name])
            self.pipes[name] = -1

    def measure(self) -> watchdog.UsageSample | None:
        """Current usage; None if it has not started or has ended. Updates the peak."""
        if not self.inner or self.inner_handle < 0:
            return None
        try:
            if self.group is not None and self.bounded_by_group("memory"):
                sample = watchdog.UsageSample(self.group.memory(), 0)
            else:
                sample = watchdog.sample(self.inner, self.limits.memory)
        except (OSError, ValueError):
            # It ended during the measurement; its end is detected elsewhere.
            return None
        self.peak_memory = max(self.peak_memory, sample.memory)
        return sample

    def hits(self) -> dict[str, int]:
        """How often a limit of its control groups was reached: killed processes, refused processes."""
        hits: dict[str, int] = {}
        if self.group is not None and not self.gone:
            if self.bounded_by_group("memory"):
                hits["memory"] = self.group.memory_kills()
            if self.bounded_by_group("pids"):
                hits["processes"] = self.group.processes_refused()
        return hits

    def why(self) -> str:
        """Why it ended, for messages."""
        if self.error:
            return self.error
        if self.stopping:
            return self.stopping
        memory_kills = self.hits().get("memory", 0)
        if memory_kills:
            limit = self.limits.memory // MIB
            return f"memory limit: the kernel killed {memory_kills} of its processes at {limit} MiB"
        return f"its session ended with status {self.exit_status}. {self.last_words()}".strip()

    def why_ended(self) -> dict[str, Any]:
        """Cause of its end, from what its programs cannot write: exit code, control groups, and what we did."""
        hits = self.hits()
        facts = {name: number for name, number in hits.items() if number}
        if self.exit_status is not None:
            facts["exit_status"] = self.exit_status
        return {"cause": self.cause or self._cause(hits), "facts": facts}

    def _cause(self, hits: dict[str, int]) -> str:
        if hits.get("memory"):
            return "memory_limit"
        if self.exit_status is not None and self.exit_status < 0:
            return "session_killed"  # Bubblewrap itself, which nobody inside can reach.
        if self.exit_status in KILLED_STATUSES:
            # Without the filter programs inside can send it, too.
            return "session_killed" if seccomp.is_available() else "unknown"
        if hits.get("processes") or self._is_full():
            return "process_limit"
        return "unknown" if self.exit_status is None else "session_ended"

    def _is_full(self) -> bool:
        """Whether it has as many processes and threads as its user may have, where no control group counts them."""
        if self.inner_handle < 0 or self.bounded_by_group("pids"):
            return False
        return watchdog.tasks(self.inner) >= self.limits.processes - _FEW_PROCESSES

    def last_words(self) -> str:
        """End of the session's stderr. Any program inside may have written it: for messages only."""
        return self.buffers["stderr"].decode(errors="replace").strip()[-1000:]

    def state(self) -> dict[str, Any]:
        """Its state as JSON."""
        sample = self.measure()
        memory = 0 if sample is None else sample.memory
        return {
            "ready": self.ready,
            "pid": self.inner,
            "memory": memory,
            "hits": self.hits(),
            "ending": self.why_ended(),
        }

    def facts(self) -> dict[str, Any]:
        """Facts about a ready desktop for the worker, as JSON."""
        return {
            "desktop": self.name,
            "socket": str(self.socket_path),
            "pid": self.inner,
            "user": self.user,
            "home": self.home,
            "notes": self.notes,
            "seconds": round(time.monotonic() - self.started, 4),
            "session_report": self.session_report,
        }

    def conclude(self) -> None:
        """Records why it ended and what it used, while its control groups still exist."""
        if not self.verdict:
            self.verdict, self.ending = self.why(), self.why_ended()
            if self.group is not None and self.bounded_by_group("memory"):
                self.peak_memory = max(self.peak_memory, self.group.peak_memory())
            self.usage = {"peak_memory": self.peak_memory, "hits": self.hits()}

    def refused_by_sandbox(self) -> bool:
        """Whether it failed before its session started: an infrastructure failure, not the guest's."""
        return bool(self.error) or b"bwrap: " in self.buffers["stderr"]

    def clean(self) -> None:
        """Removes files and pipes. Every process is gone by now; mounts went with the last one."""
        for name in PIPES:
            self.close_pipe(name)
        if self.folder.exists():
            shutil.rmtree(self.folder)
        self.gone = True


@dataclass(frozen=True)
class StartSpec:
    """Arguments of `SupervisedDesktop.start`."""

    title: str
    bwrap: str
    template: Path
    guest: Path
    hide: tuple[str, ...]
    screen: tuple[int, int]
    flavour: DesktopKind
    secret: str
    overlay: bool = True
    command: tuple[str, ...] = ()


def _ignore_gone(action: Any) -> None:
    try:
        action()
    except ProcessLookupError:
        return


def _parent_of(pid: int) -> int:
    """Parent of a process; 0 if it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0
