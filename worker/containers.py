"""Agents in containers, by the command line of Docker or Podman. See `container` in `backend/domain/agents`.

A container has no network, no rights and bounded memory, processor and processes. It reaches one thing: a socket of
ours that lets through the API's paths for agents and nothing else (`worker.agent_door`). Its token is in its
environment. Containers carry the worker's mark, so that the next worker removes what a dead one left behind.
"""

import logging
import os
import shutil
import socket
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from uuid import UUID

from backend.domain.agents.container import ContainerParams
from backend.domain.errors import AgentFailed, ClusterLost

logger = logging.getLogger(__name__)
ENGINES = ("docker", "podman")
OWNER = "deskarena.worker"
INSIDE = "/run/deskarena/agent.sock"
ASK_SECONDS = 10.0
MOST_LOG = 4000


@dataclass(frozen=True)
class Plan:
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


def run_line(engine: str, plan: Plan) -> list[str]:
    """The command that runs a container to its end. The token is not in it: it is in the engine's environment."""
    params = plan.params
    memory = f"{params.memory_mb}m"
    return [
        engine, "run", "--rm", "--pull", "never",
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
        """Args: program: `docker` or `podman`; None = the first that is installed."""
        found = [program] if program else [name for name in ENGINES if shutil.which(name)]
        self.program = found[0] if found else ""

    def why_not(self) -> str:
        """Why no container can run here; empty if they can."""
        if not self.program:
            return f"none of {' and '.join(ENGINES)} is installed here"
        done = self._ask([self.program, "version"])
        if done is None:
            return f"{self.program} version does not answer"
        return "" if done.returncode == 0 else f"{self.program} does not work: {done.stderr.strip()[-300:]}"

    def run(self, plan: Plan, token: str) -> "Running":
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
            raise ClusterLost(f"the container engine could not be started: {error}") from error
        return Running(self, plan, process)

    def remove(self, *names: str) -> None:
        """Ends and removes containers; those that are not there are no error."""
        self._ask(remove_line(self.program, names))

    def sweep(self) -> int:
        """Removes the containers of workers of this machine that are gone. Returns how many."""
        if not self.program:
            return 0
        done = self._ask(list_line(self.program))
        rows = [line.split(" ", 1) for line in (done.stdout.splitlines() if done else ()) if " " in line]
        left = [name for name, owner in rows if not lives(owner.strip())]
        if left:
            self.remove(*left)
            logger.warning("removed %d containers that a worker left behind", len(left))
        return len(left)

    @staticmethod
    def _ask(line: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
        """What a short command says; None if it says nothing in time or cannot be started."""
        try:
            return subprocess.run(
                line, capture_output=True, text=True, timeout=ASK_SECONDS, check=False, env=_plain_environment(),
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            logger.warning("%s: %s", line[:2], error)
            return None


class Running:
    """A container that was started."""

    def __init__(self, engine: Engine, plan: Plan, process: subprocess.Popen[bytes]) -> None:
        self._engine = engine
        self._plan = plan
        self._process = process
        self._said = b""
        # Always read: a full pipe would stop the agent.
        self._reader = Thread(target=self._read, name="container-log", daemon=True)
        self._reader.start()

    @property
    def ended(self) -> bool:
        """Whether its program has ended."""
        return self._process.poll() is not None

    def check(self) -> None:
        """Raises AgentFailed if it has ended; its last words say why."""
        if self.ended:
            self._reader.join(2.0)
            said = self._said.decode(errors="replace").strip()
            raise AgentFailed(f"the container ended with exit code {self._process.returncode}: {said}")

    def close(self) -> None:
        """Ends and removes it. Safe to call twice."""
        self._engine.remove(self._plan.name)
        self._process.kill()
        self._process.wait()
        self._reader.join(2.0)

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - it was asked for.
        with self._process.stdout as stream:
            while part := os.read(stream.fileno(), 65536):
                self._said = (self._said + part)[-MOST_LOG:]


def _plain_environment() -> Mapping[str, str]:
    """What the engine's program needs of ours, and nothing of our settings."""
    kept = ("PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "CONTAINER_HOST", "TMPDIR")
    return {name: os.environ[name] for name in kept if name in os.environ}
