"""Agents in containers, by the command line of Docker or Podman. See `container` in `backend/domain/agents`.

A container has no network, no rights and bounded memory, processor and processes. It reaches one thing: a socket of
ours that lets through the API's paths for agents and nothing else (`worker.agents.agent_api_proxy`). Its token is in
its environment. Containers carry the worker's mark, so that the next worker removes what a dead one left behind.

An end is held against the program only where the engine says that it was one: see `not_the_programs`. So a container is
there until it has been asked about, and is removed by us, not by itself.
"""

import json
import logging
import math
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock, Thread
from uuid import UUID

from backend.domain.agents.container import ContainerParams
from backend.domain.errors import AgentFailed, ClusterLost

logger = logging.getLogger(__name__)
ENGINES = ("docker", "podman")
OWNER = "deskarena.worker"
INSIDE = "/run/deskarena/agent.sock"
ASK_SECONDS = 10.0
MOST_LOG = 4000
ENGINE_FAILED = 125
"""What `run` ends with where the engine failed, not the program; also where the program says so itself."""
KILLED = 137
"""What it ends with after SIGKILL: over the memory limit, by an engine that stops, by anybody."""


@dataclass(frozen=True)
class ContainerSpec:
    """One container to start.

    Attributes:
        attempt_id: gives it its name.
        door: our socket on this machine.
        owner: of whom it is (`owner_mark`).
    """

    attempt_id: UUID
    params: ContainerParams
    door: Path
    owner: str

    @property
    def name(self) -> str:
        """The container's."""
        return f"deskarena-{self.attempt_id}"


def run_line(engine: str, plan: ContainerSpec) -> list[str]:
    """The command that runs a container to its end. The token is not in it: it is in the engine's environment."""
    params = plan.params
    memory = f"{params.memory_mb}m"
    return [
        engine, "run", "--pull", "never",
        "--name", plan.name, "--label", f"{OWNER}={plan.owner}",
        "--network", "none", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
        "--read-only", "--tmpfs", "/tmp:rw,nosuid,nodev,size=256m",  # noqa: S108 - inside the container.
        "--memory", memory, "--memory-swap", memory, "--cpus", f"{params.cpus:g}", "--pids-limit", "256",
        "--user", "65534:65534", "--stop-timeout", "2",
        "--volume", f"{plan.door}:{INSIDE}",
        "--env", f"DESKARENA_SERVER=unix:{INSIDE}", "--env", "DESKARENA_AGENT_TOKEN",
        "--env", "HOME=/tmp",
        params.image, *params.command,
    ]  # fmt: skip


def remove_line(engine: str, names: Sequence[str]) -> list[str]:
    """The command that ends and removes containers."""
    return [engine, "rm", "--force", *names]


def state_line(engine: str, name: str) -> list[str]:
    """The command that tells how a container is, as JSON."""
    return [engine, "inspect", "--type", "container", "--format", "{{json .State}}", name]


@dataclass(frozen=True)
class ContainerState:
    """What the engine says of a container.

    Attributes:
        status: `created`, `running`, `exited`, ...
        out_of_memory: killed for its own memory limit.
    """

    status: str
    out_of_memory: bool

    @classmethod
    def read(cls, text: str) -> "ContainerState | None":
        """The answer to `state_line`; None if it is none."""
        try:
            state = json.loads(text)
            return cls(str(state["Status"]), state["OOMKilled"] is True)
        except (ValueError, KeyError, TypeError):
            return None


def not_the_programs(code: int, state: ContainerState | None) -> str:
    """Why the end of a container is no failure of the program in it, in words; empty if it is one.

    An engine that is stopped tells its containers first, so that their programs may end with any code of theirs; but it
    answers nobody from that moment on.

    Args:
        code: what the engine's `run` ended with; negative = the signal that ended it.
        state: what the engine says of the container right after; None = it does not answer, or knows none.
    """
    if code < 0:
        return f"the engine's program was ended by signal {-code}"
    if code == ENGINE_FAILED and (state is None or state.status != "exited"):
        return "the engine failed"
    if state is None:
        return "the engine cannot say how it ended"
    if state.status == "running":
        return "the engine's program ended before it"
    if code == KILLED and not state.out_of_memory:
        return "it was killed, and not for its memory"
    return ""


def list_line(engine: str) -> list[str]:
    """The command that lists our containers, one a line: id, blank, owner."""
    return [engine, "ps", "--all", "--filter", f"label={OWNER}", "--format", f'{{{{.ID}}}} {{{{.Label "{OWNER}"}}}}']


def owner_mark() -> str:
    """This worker, so that another can tell whether it still lives: host, process, when the process began."""
    return f"{socket.gethostname()}:{os.getpid()}:{_began(os.getpid())}"


def lives(owner: str) -> bool:
    """Whether the worker of a mark goes on; one of another host is left alone."""
    host, pid, began = ["", "", *owner.rsplit(":", 2)][-3:]
    if host != socket.gethostname():
        return True
    return pid.isdigit() and _began(int(pid)) == began


def _began(pid: int) -> str:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return fields[19]  # the 22nd field of proc(5), start time in ticks since boot


class Engine:
    """The container engine of this machine, if there is one."""

    def __init__(self, program: str | None = None) -> None:
        """Args: program: `docker` or `podman`; None = the first that is installed whenever it is asked."""
        self._given = program
        self._left: set[str] = set()
        self._lock = Lock()

    @property
    def program(self) -> str:
        """Its command; empty if there is none."""
        return self._given or next((name for name in ENGINES if shutil.which(name)), "")

    def why_not(self) -> str:
        """Why no container can run here; empty if they can."""
        if not self.program:
            return f"none of {' and '.join(ENGINES)} is installed here"
        done = self._ask([self.program, "version"])
        if done is None:
            return f"{self.program} version does not answer"
        return "" if done.returncode == 0 else f"{self.program} does not work: {done.stderr.strip()[-300:]}"

    def run(self, plan: ContainerSpec, token: str) -> "RunningContainer":
        """Starts a container.

        Raises:
            ClusterLost: the engine's program could not be started.
        """
        environment = {**_plain_environment(), "DESKARENA_AGENT_TOKEN": token}
        try:
            process = subprocess.Popen(
                run_line(self.program, plan),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            raise ClusterLost(
                f"the container engine could not be started: {error}", code="container_not_started"
            ) from error
        return RunningContainer(self, plan, process)

    def make_image(self, name: str, archive: bytes) -> str:
        """An image of a tar archive. Says what went wrong; empty if nothing did."""
        return self.tell([self.program, "import", "-", name], archive)

    def tell(self, line: Sequence[str], data: bytes = b"") -> str:
        """Has a short command done. Says what went wrong; empty if nothing did. Args: data: on its standard input."""
        done = self._ask(line, data)
        if done is None:
            return f"{' '.join(line[:2])} does not answer within {ASK_SECONDS:g} s"
        if done.returncode == 0:
            return ""
        return done.stderr.strip()[-300:] or f"{' '.join(line[:2])} ended with {done.returncode}"

    def state(self, name: str) -> ContainerState | None:
        """How a container is; None if the engine does not answer or knows none of that name."""
        done = self._ask(state_line(self.program, name))
        return ContainerState.read(done.stdout) if done is not None and done.returncode == 0 else None

    def remove(self, *names: str) -> None:
        """Ends and removes containers; those that are not there are no error. Where it fails, `sweep` does it."""
        done = self._ask(remove_line(self.program, names))
        gone = done is not None and (done.returncode == 0 or "no such container" in done.stderr.lower())
        with self._lock:
            self._left = self._left.difference(names) if gone else self._left.union(names)

    def sweep(self) -> int:
        """Removes the containers of workers of this machine that are gone, and our own that could not be removed.

        Returns how many of others.
        """
        if not self.program:
            return 0
        if self._left:
            self.remove(*self._left)
        done = self._ask(list_line(self.program))
        rows = [line.split(" ", 1) for line in (done.stdout.splitlines() if done else ()) if " " in line]
        left = [name for name, owner in rows if not lives(owner.strip())]
        if left:
            self.remove(*left)
            logger.warning("removed %d containers that a worker left behind", len(left))
        return len(left)

    @staticmethod
    def _ask(line: Sequence[str], data: bytes = b"") -> subprocess.CompletedProcess[str] | None:
        """What a short command says; None if it says nothing in time or cannot be started."""
        try:
            done = subprocess.run(
                line, input=data, capture_output=True, timeout=ASK_SECONDS, check=False, env=_plain_environment()
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            logger.warning("%s: %s", line[:2], error)
            return None
        output, complained = (each.decode(errors="replace") for each in (done.stdout, done.stderr))
        return subprocess.CompletedProcess(line, done.returncode, output, complained)


class RunningContainer:
    """A container that was started."""

    def __init__(self, engine: Engine, plan: ContainerSpec, process: subprocess.Popen[bytes]) -> None:
        self._engine = engine
        self._plan = plan
        self._process = process
        self._said = b""
        self._state: ContainerState | None = None
        self._closing = Event()
        self._ended = Event()
        self.ended_at = math.inf
        """When it ended (monotonic)."""
        # Always read: a full pipe would stop the agent.
        self._reader = Thread(target=self._read, name="container-log", daemon=True)
        self._watcher = Thread(target=self._watch, name="container-end", daemon=True)
        self._reader.start()
        self._watcher.start()

    @property
    def ended(self) -> bool:
        """Whether it has ended, and the engine has been asked how."""
        return self._ended.is_set()

    def check(self) -> None:
        """Does nothing while it goes on. Its last words are told with each error.

        Raises:
            AgentFailed: it ended by what its program did.
            ClusterLost: it ended by what the engine or the machine did.
        """
        if not self.ended:
            return
        self._reader.join(2.0)
        code, output = self._process.returncode, self._said.decode(errors="replace").strip()
        if why := not_the_programs(code, self._state):
            raise ClusterLost(
                f"the container ended, but not by its program: {why} (exit code {code}): {output}",
                code="container_killed",
            )
        if code == KILLED:
            raise AgentFailed(
                f"the container was killed: it needs more than {self._plan.params.memory_mb} MiB: {output}",
                code="container_out_of_memory",
            )
        raise AgentFailed(f"the container ended with exit code {code}: {output}", code="container_exited")

    def close(self) -> None:
        """Ends and removes it. Safe to call twice."""
        self._closing.set()
        # First, so that it starts nothing after the removal.
        self._process.kill()
        self._watcher.join()
        self._engine.remove(self._plan.name)
        self._reader.join(2.0)

    def _watch(self) -> None:
        """Asks about an end at once: an engine that is started again knows less of it."""
        try:
            self._process.wait()
            self.ended_at = time.monotonic()
            if not self._closing.is_set():
                self._state = self._engine.state(self._plan.name)
        finally:
            self._ended.set()

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - it was asked for.
        with self._process.stdout as stream:
            while part := os.read(stream.fileno(), 65536):
                self._said = (self._said + part)[-MOST_LOG:]


def _plain_environment() -> Mapping[str, str]:
    """What the engine's program needs of ours, and nothing of our settings."""
    names = ("PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "CONTAINER_HOST", "TMPDIR")
    return {name: os.environ[name] for name in names if name in os.environ}
