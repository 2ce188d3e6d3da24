"""The line of a `container` agent: the container starts with the first observation and ends with the attempt."""

import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import UUID

from backend.domain.agents.container import ContainerParams
from backend.domain.errors import ClusterLost
from backend.domain.ports_agent import Line
from backend.domain.trajectory import Observation
from worker.agent_door import AgentDoor
from worker.containers import Engine, Plan, Running, owner_mark

LOOK_SECONDS = 0.5


class ContainerLine:
    """A line with a container at its other end."""

    def __init__(  # noqa: PLR0913 - what it takes to start one
        self,
        line: Line,
        engine: Engine,
        *,
        attempt_id: UUID,
        params: Mapping[str, Any],
        api: str,
        token: Callable[[], str],
    ) -> None:
        """Starts nothing yet.

        Args:
            line: over which the container's requests come.
            engine: runs it.
            attempt_id: whose container it is.
            params: of the agent.
            api: address of the API.
            token: makes the episode's token.
        """
        self._line = line
        self._engine = engine
        self._attempt_id = attempt_id
        self._params = ContainerParams.of(params)
        self._api = api
        self._token = token
        self._lock = Lock()
        self._folder: Path | None = None
        self._door: AgentDoor | None = None
        self._running: Running | None = None
        self._closed = False

    def show(self, observation: Observation, told: Mapping[str, Any]) -> None:
        """See the port. Raises ClusterLost if the container could not be started."""
        self._line.show(observation, told)
        with self._lock:
            if self._running is None and not self._closed:
                self._start()

    def take(self, seconds: float) -> Mapping[str, Any] | None:
        """See the port. Raises AgentFailed when the container has ended."""
        deadline = time.monotonic() + seconds
        while True:
            left = max(0.0, deadline - time.monotonic())
            message = self._line.take(min(left, LOOK_SECONDS))
            if message is not None or left <= 0:
                return message
            running = self._running
            if running is not None and (last := self._last_words(running)) is not None:
                return last

    def present(self) -> bool:
        """See the port."""
        return self._line.present()

    def held_seconds(self) -> float:
        """See the port."""
        return self._line.held_seconds()

    def unheard(self) -> str:
        """See the port."""
        return self._line.unheard()

    def close(self) -> None:
        """See the port. The container is gone when this returns."""
        self._line.close()
        with self._lock:
            self._closed = True
            for part in (self._running, self._door):
                if part is not None:
                    part.close()
            self._running = self._door = None
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)

    def _last_words(self, running: Running) -> Mapping[str, Any] | None:
        """A message that came in just before the end; without one, the end is the agent's failure."""
        if not running.ended:
            return None
        message = self._line.take(0.0)
        if message is None:
            running.check()
        return message

    def _start(self) -> None:
        why_not = self._engine.why_not()
        if why_not:
            raise ClusterLost(f"no container can run here: {why_not}")
        # A short path: a socket's may have 107 bytes.
        self._folder = Path(tempfile.mkdtemp(prefix="deskarena-agent-"))
        self._door = AgentDoor(self._folder / "agent.sock", self._api)
        plan = Plan(self._attempt_id, self._params, self._door.path, owner_mark())
        self._running = self._engine.run(plan, self._token())
