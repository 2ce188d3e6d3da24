"""Channel of a `container` agent: the container starts with the first observation and ends with the attempt."""

import logging
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import UUID

from backend.domain.agents.container import ContainerParams
from backend.domain.errors import AgentFailed, Cancelled, ClusterLost, DeskarenaError, MachineLost
from backend.domain.model.trajectory import Observation
from backend.domain.ports.agent import AgentChannel
from worker.agents.agent_api_proxy import AgentApiProxy
from worker.agents.containers import ContainerSpec, Engine, RunningContainer, owner_mark

LOOK_SECONDS = 0.5
AWAY_SECONDS = 60.0
"""Seconds after an API outage in which a container's end may be due to it: `deskarena.client` gives up after 30 s."""
logger = logging.getLogger(__name__)


class ContainerChannel:
    """Agent channel with a container at its other end."""

    def __init__(  # noqa: PLR0913 - what it takes to start one
        self,
        line: AgentChannel,
        engine: Engine,
        *,
        attempt_id: UUID,
        params: Mapping[str, Any],
        api: str,
        token: str,
    ) -> None:
        """Does not start the container yet.

        Args:
            line: channel for the container's requests.
            engine: container engine.
            attempt_id: attempt that the container belongs to.
            params: the agent's parameters.
            api: address of the API.
            token: the episode's token.
        """
        self._line = line
        self._engine = engine
        self._attempt_id = attempt_id
        self._params = ContainerParams.parse(params)
        self._api = api
        self._token = token
        self._lock = Lock()
        self._folder: Path | None = None
        self._door: AgentApiProxy | None = None
        self._running: RunningContainer | None = None
        self._closed = False
        self._answers = 0

    def show(self, observation: Observation, details: Mapping[str, Any]) -> None:
        """Shows an observation. Raises ClusterLost if the container cannot be started."""
        self._line.show(observation, details)
        with self._lock:
            if self._running is None and not self._closed:
                self._start()

    def take(self, seconds: float) -> Mapping[str, Any] | None:
        """Takes an answer. If the container has ended: AgentFailed, or ClusterLost if we caused it."""
        deadline = time.monotonic() + seconds
        while True:
            remaining = max(0.0, deadline - time.monotonic())
            message = self._next(min(remaining, LOOK_SECONDS))
            if message is not None or remaining <= 0:
                return message
            running, door = self._running, self._door
            if running is not None and door is not None and (last := self._last_words(running, door)) is not None:
                return last

    def present(self) -> bool:
        return self._line.present()

    def wait_seconds(self) -> float:
        return self._line.wait_seconds()

    def unheard(self) -> str:
        return self._line.unheard()

    def close(self) -> None:
        """Closes the channel; the container is gone when this returns."""
        self._line.close()
        with self._lock:
            self._closed = True
            for part in (self._running, self._door):
                if part is not None:
                    part.close()
            self._running = self._door = None
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)

    def _next(self, seconds: float) -> Mapping[str, Any] | None:
        message = self._line.take(seconds)
        self._answers += message is not None
        return message

    def _last_words(self, running: RunningContainer, door: AgentApiProxy) -> Mapping[str, Any] | None:
        """A message that arrived just before the end; without one, the end is a failure."""
        if not running.ended:
            return None
        message = self._next(0.0)
        if message is None:
            self._fail(running, door)
        return message

    def _fail(self, running: RunningContainer, door: AgentApiProxy) -> None:
        """Raises the reason for the end: AgentFailed only if all that it needs of us was available."""
        try:
            running.check()
        except AgentFailed as error:
            if door.answers > self._answers:
                raise ClusterLost(
                    f"an answer that the API accepted never reached the worker: {error.message}",
                    code="agent_channel_down",
                ) from error
            if reason := self._line.unheard():
                raise ClusterLost(f"{reason}: {error.message}", code="agent_channel_down") from error
            if door.was_away(running.ended_at - AWAY_SECONDS):
                raise ClusterLost(
                    f"the API was unavailable when the container ended: {error.message}", code="agent_channel_down"
                ) from error
            raise

    def _start(self) -> None:
        """Starts the container. Any failure here is an infrastructure failure, never the agent's."""
        try:
            self._bring_up()
        except (MachineLost, Cancelled):
            raise
        except Exception as error:
            logger.exception("container start failed: attempt %s", self._attempt_id)
            words = error.message if isinstance(error, DeskarenaError) else f"{type(error).__name__}: {error}"
            raise ClusterLost(f"the container could not be started: {words}", code="container_not_started") from error

    def _bring_up(self) -> None:
        why_not = self._engine.why_not()
        if why_not:
            raise ClusterLost(f"containers cannot run on this machine: {why_not}", code="container_not_started")
        # A short path: a socket's path may have at most 107 bytes.
        self._folder = Path(tempfile.mkdtemp(prefix="deskarena-agent-"))
        self._door = AgentApiProxy(self._folder / "agent.sock", self._api)
        plan = ContainerSpec(self._attempt_id, self._params, self._door.path, owner_mark())
        self._running = self._engine.run(plan, self._token)
