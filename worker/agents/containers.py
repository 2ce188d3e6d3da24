"""Agents in containers, through the command line of Docker or Podman. See `container` in `backend/domain/agents`.

A container has no network, no privileges and limits on memory, CPU and processes. It reaches only a unix socket that
passes the API's paths for agents (`worker.agents.agent_api_proxy`). Its token is in its environment. Containers carry
the worker's mark, so that the next worker removes those of a dead one.

An exit counts as the program's failure only if the engine says so: see `not_the_programs`. So containers are removed by
us after asking, not automatically.
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
"""Exit code of `run` if the engine failed; a program may use it, too."""
KILLED = 137
"""Exit code after SIGKILL: memory limit, an engine that stops, or somebody else."""


@dataclass(frozen=True)
class ContainerSpec:
    """A container to start.

    Attributes:
        attempt_id: determines its name.
        door: path of our socket on this machine.
        owner: mark of the worker (`owner_mark`).
    """

    attempt_id: UUID
    params: ContainerParams
    door: Path
    owner: str

    @property
    def name(self) -> str:
        """Name of the container."""
        return f"deskarena-{self.attempt_id}"


def run_line(engine: str, plan: ContainerSpec) -> list[str]:
    """Command that runs a container to its end. The token is in the environment, not in the arguments."""
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
    """Command that stops and removes containers."""
    return [engine, "rm", "--force", *names]


def state_line(engine: str, name: str) -> list[str]:
    """Command that prints a container's state as JSON."""
    return [engine, "inspect", "--type", "container", "--format", "{{json .State}}", name]


@dataclass(frozen=True)
class ContainerState:
    """A container's state according to the engine.

    Attributes:
        status: `created`, `running`, `exited`, ...
        out_of_memory: whether it was killed for its own memory limit.
    """

    status: str
    out_of_memory: bool

    @classmethod
    def read(cls, text: str) -> "ContainerState | None":
        """Parses the output of `state_line`; None if it is invalid."""
        try:
            state = json.loads(text)
            return cls(str(state["Status"]), state["OOMKilled"] is True)
        except (ValueError, KeyError, TypeError):
            return None


def not_the_programs(code: int, state: ContainerState | None) -> str:
    """Why a container's end is not its program's failure; empty if it is.

    An engine that is stopped first tells its containers, so their programs may exit with any code of their own; but
    from then on it responds to nobody.

    Args:
        code: exit code of the engine's `run`; negative = signal that ended it.
        state: state right afterwards; None = no response, or unknown container.
    """
    if code < 0:
        return f"the engine's client was killed by signal {-code}"
    if code == ENGINE_FAILED and (state is None or state.status != "exited"):
        return "the engine failed"
    if state is None:
        return "the engine does not report how it ended"
    if state.status == "running":
        return "the engine's client ended before the container"
    if code == KILLED and not state.out_of_memory:
        return "it was killed, but not for its memory limit"
    return ""


def list_line(engine: str) -> list[str]:
    """Command that lists our containers, one per line: id, space, owner."""
    return [engine, "ps", "--all", "--filter", f"label={OWNER}", "--format", f'{{{{.ID}}}} {{{{.Label "{OWNER}"}}}}']


def owner_mark() -> str:
    """Mark of this worker, from which others can tell whether it still runs: host, process id, start time."""
    return f"{socket.gethostname()}:{os.getpid()}:{_began(os.getpid())}"


def lives(owner: str) -> bool:
    """Whether the worker of a mark still runs; true for other hosts, which cannot be checked."""
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
    """The container engine of this machine, if any."""

    def __init__(self, program: str | None = None) -> None:
        """Args: program: `docker` or `podman`; None = the first that is installed, checked at each use."""
        self._configured = program
        self._left: set[str] = set()
        self._lock = Lock()

    @property
    def program(self) -> str:
        """Its command; empty if there is none."""
        return self._configured or next((name for name in ENGINES if shutil.which(name)), "")

    def why_not(self) -> str:
        """Why containers cannot run here; empty if they can."""
        if not self.program:
            return f"neither {' nor '.join(ENGINES)} is installed"
        result = self._ask([self.program, "version"])
        if result is None:
            return f"{self.program} version does not respond"
        return "" if result.returncode == 0 else f"{self.program} does not work: {result.stderr.strip()[-300:]}"

    def run(self, plan: ContainerSpec, token: str) -> "RunningContainer":
        """Starts a container.

        Raises:
            ClusterLost: The engine's client could not be started.
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
        """Loads a tar archive as an image. Returns what went wrong, or empty."""
        return self.tell([self.program, "import", "-", name], archive)

    def tell(self, line: Sequence[str], data: bytes = b"") -> str:
        """Runs a short command. Returns what went wrong, or empty. Args: data: for its stdin."""
        result = self._ask(line, data)
        if result is None:
            return f"{' '.join(line[:2])} did not respond within {ASK_SECONDS:g} s"
        if result.returncode == 0:
            return ""
        return result.stderr.strip()[-300:] or f"{' '.join(line[:2])} exited with {result.returncode}"

    def state(self, name: str) -> ContainerState | None:
        """State of a container; None if the engine does not respond or does not know it."""
        result = self._ask(state_line(self.program, name))
        return ContainerState.read(result.stdout) if result is not None and result.returncode == 0 else None

    def remove(self, *names: str) -> None:
        """Stops and removes containers; missing ones are not an error. If it fails, `sweep` does it later."""
        result = self._ask(remove_line(self.program, names))
        gone = result is not None and (result.returncode == 0 or "no such container" in result.stderr.lower())
        with self._lock:
            self._left = self._left.difference(names) if gone else self._left.union(names)

    def sweep(self) -> int:
        """Removes containers of dead workers of this machine, and our own that could not be removed.

        Returns the number of containers of other workers.
        """
        if not self.program:
            return 0
        if self._left:
            self.remove(*self._left)
        result = self._ask(list_line(self.program))
        rows = [line.split(" ", 1) for line in (result.stdout.splitlines() if result else ()) if " " in line]
        orphans = [name for name, owner in rows if not lives(owner.strip())]
        if orphans:
            self.remove(*orphans)
            logger.warning("removed %d containers of dead workers", len(orphans))
        return len(orphans)

    @staticmethod
    def _ask(line: Sequence[str], data: bytes = b"") -> subprocess.CompletedProcess[str] | None:
        """Output of a short command; None on timeout or if it cannot be started."""
        try:
            result = subprocess.run(
                line, input=data, capture_output=True, timeout=ASK_SECONDS, check=False, env=_plain_environment()
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            logger.warning("%s: %s", line[:2], error)
            return None
        output, complained = (stream.decode(errors="replace") for stream in (result.stdout, result.stderr))
        return subprocess.CompletedProcess(line, result.returncode, output, complained)


class RunningContainer:
    """A container that was started."""

    def __init__(self, engine: Engine, plan: ContainerSpec, process: subprocess.Popen[bytes]) -> None:
        self._engine = engine
        self._plan = plan
        self._process = process
        self._output = b""
        self._state: ContainerState | None = None
        self._closing = Event()
        self._ended = Event()
        self.ended_at = math.inf
        """When it ended (monotonic)."""
        # Always read its output: a full pipe would block the agent.
        self._reader = Thread(target=self._read, name="container-log", daemon=True)
        self._watcher = Thread(target=self._watch, name="container-end", daemon=True)
        self._reader.start()
        self._watcher.start()

    @property
    def ended(self) -> bool:
        """Whether it has ended and the engine has been asked how."""
        return self._ended.is_set()

    def check(self) -> None:
        """Returns while it runs. Errors include its last output.

        Raises:
            AgentFailed: It ended because of its program.
            ClusterLost: It ended because of the engine or the machine.
        """
        if not self.ended:
            return
        self._reader.join(2.0)
        code, output = self._process.returncode, self._output.decode(errors="replace").strip()
        if reason := not_the_programs(code, self._state):
            raise ClusterLost(
                f"the container was ended by something other than its program: {reason} (exit code {code}): {output}",
                code="container_killed",
            )
        if code == KILLED:
            raise AgentFailed(
                "the container was killed: it needs more than its memory limit of "
                f"{self._plan.params.memory_mb} MiB: {output}",
                code="container_out_of_memory",
            )
        raise AgentFailed(f"the container exited with code {code}: {output}", code="container_exited")

    def close(self) -> None:
        """Stops and removes it. Safe to call twice."""
        self._closing.set()
        # First, so that nothing is started after the removal.
        self._process.kill()
        self._watcher.join()
        self._engine.remove(self._plan.name)
        self._reader.join(2.0)

    def _watch(self) -> None:
        """Asks about an end at once: a restarted engine knows less about it."""
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
                self._output = (self._output + part)[-MOST_LOG:]


def _plain_environment() -> Mapping[str, str]:
    """Environment for the engine's client, without our settings."""
    names = ("PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "CONTAINER_HOST", "TMPDIR")
    return {name: os.environ[name] for name in names if name in os.environ}
