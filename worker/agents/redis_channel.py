"""The worker's end of the channel to an external agent, over the broker. See `AgentChannel` in `ports/agent.py`.

A message is a JSON object, created by `backend.services.agents.agent_channel` and read by the agent that takes it:

`{"index": n, "actions": [typed Action as JSON, ...] | "reply": "text in the run's action space", "words": "why",
"stop": null | "done" | "infeasible" | "steps", "by": "agent" | "person"}`

`index` is the step that it answers. All other keys are optional; an agent and its page may agree on further keys.
"""

import json
import logging
import time
from collections import deque
from collections.abc import Mapping
from threading import Event, Lock
from typing import Any
from uuid import UUID

from backend.domain.errors import ClusterLost
from backend.domain.model.trajectory import Observation
from backend.services.agents import agent_channel_store
from worker.agents.channel_outages import API, BROKER, ChannelOutages

logger = logging.getLogger(__name__)
LOOK_SECONDS = 0.25
"""Seconds of one blocking call; below the broker's read timeout."""
RENEW_SECONDS = 10.0
API_LOOK_SECONDS = 2.0
"""Seconds between two checks of the API."""


class RedisChannel:
    """Channel of one attempt. Does not poll the broker while it is not used."""

    def __init__(self, attempt_id: UUID, *, patience: float = 10.0) -> None:
        """Does not connect yet.

        Args:
            attempt_id: attempt of the channel.
            patience: seconds for which the broker may be unavailable.
        """
        self._attempt_id = attempt_id
        self._outages = ChannelOutages(patience)
        self._look_at, self._api_there, self._api_known = 0.0, True, False
        self._lock = Lock()
        self._shown: tuple[int, Mapping[str, Any], bytes, str] | None = None
        self._renew_at, self._forgotten = 0.0, False
        self._last = "0"
        self._waiting: deque[Mapping[str, Any]] = deque()
        self._closed = Event()

    def show(self, observation: Observation, details: Mapping[str, Any]) -> None:
        """Shows an observation. During an outage it is sent once the broker is back, while somebody waits in `take`."""
        picture = observation.picture
        head = {**_head(observation), **details}
        with self._lock:
            if not self._closed.is_set():
                self._shown = observation.index, head, picture.data if picture else b"", observation.a11y_tree or ""
                self._put(again=False)

    def take(self, seconds: float) -> Mapping[str, Any] | None:
        with self._lock:
            deadline = time.monotonic() + seconds
            while not self._waiting:
                if self._closed.is_set():
                    raise ClusterLost("the channel was closed: the attempt is over", code="agent_channel_down")
                remaining = max(0.0, deadline - time.monotonic())
                self._renew()
                connected = self._fetch(min(remaining, LOOK_SECONDS))
                self._note(connected=connected)
                if not connected:
                    self._closed.wait(min(remaining, LOOK_SECONDS))
                if not self._waiting and remaining <= 0:
                    return None
            return self._waiting.popleft()

    def present(self) -> bool:
        return agent_channel_store.has_contact(self._attempt_id)

    def wait_seconds(self) -> float:
        return self._outages.seconds()

    def unheard(self) -> str:
        reason = self._outages.unheard
        return f"{reason} or was, and the external agent has not been heard from since" if reason else ""

    def close(self) -> None:
        self._closed.set()
        with self._lock:
            if self._shown is not None:
                self._shown = None
                agent_channel_store.forget_observation(self._attempt_id)

    def _put(self, *, again: bool) -> None:
        if self._shown is not None:
            put = agent_channel_store.put_observation(self._attempt_id, *self._shown, again=again)
            self._renew_at = time.monotonic() + (RENEW_SECONDS if put else 0.0)
            self._forgotten = self._forgotten and not put

    def _renew(self) -> None:
        """Keeps the observation from expiring while an agent thinks, and restores it if the broker lost it."""
        if time.monotonic() < self._renew_at or self._shown is None:
            return
        # After an outage the observation may still exist although an answer to it was lost.
        if not self._forgotten and agent_channel_store.renew_observation(self._attempt_id, self._shown[0]):
            self._renew_at = time.monotonic() + RENEW_SECONDS
        else:
            self._put(again=True)

    def _fetch(self, seconds: float) -> bool:
        """Fetches new messages. False while the broker is unavailable."""
        rows = agent_channel_store.next_messages(self._attempt_id, self._last, seconds)
        if rows is None:  # A restarted broker may have lost everything.
            self._renew_at, self._forgotten = 0.0, True
        elif rows:
            self._outages.end_outage()
        for number, body in rows or ():
            self._last = number
            message = _read(body)
            if message is not None:
                self._waiting.append(message)
        return rows is not None

    def _note(self, *, connected: bool) -> None:
        """Records what prevents the agent from acting. Raises ClusterLost if it lasts too long."""
        if connected and time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + API_LOOK_SECONDS
            self._api_there = agent_channel_store.is_api_alive()
            # An API of an older release does not report itself.
            self._api_known = self._api_known or self._api_there
            if self._outages.unheard and self._api_there and self.present():
                self._outages.end_outage()
        away = API if self._api_known and not self._api_there else ""
        if self._outages.note(away if connected else BROKER) and connected:
            agent_channel_store.forget_contact(self._attempt_id)


def _read(body: bytes) -> Mapping[str, Any] | None:
    """Parses a message; None if it was not written by our API."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        message = None
    if isinstance(message, dict):
        return message
    logger.warning("agent channel: ignored a message that is not a JSON object")
    return None


def _head(observation: Observation) -> dict[str, Any]:
    """Metadata of an observation, without picture and tree."""
    picture = observation.picture
    return {
        "index": observation.index,
        "note": observation.note,
        "results": [dict(result) for result in observation.results],
        "media_type": picture.media_type if picture else "",
        "width": picture.width if picture else 0,
        "height": picture.height if picture else 0,
        "windows": [window.model_dump(mode="json") for window in observation.windows]
        if observation.windows is not None
        else None,
        "clipboard": observation.clipboard,
        "terminal": observation.terminal,
        "marks": [mark.model_dump(mode="json") for mark in observation.marks]
        if observation.marks is not None
        else None,
        "view": observation.view.model_dump(mode="json") if observation.view is not None else None,
        "has_tree": observation.a11y_tree is not None,
    }
