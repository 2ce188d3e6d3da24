"""The worker's end of the line to somebody outside, over the broker. See `Line` in `ports/agent.py`.

A message is a JSON object; `backend.services.agents.agent_channel` makes it, the agent that takes it reads it:

`{"index": n, "actions": [typed Action as JSON, ...] | "reply": "text in the run's action space", "words": "why",
"stop": null | "done" | "infeasible" | "steps", "by": "agent" | "person"}`

`index` is the step that it answers. All but `index` may be left out; an agent may agree on further keys with its page.
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
"""Waited for at once; below the time-out of one call of the broker."""
RENEW_SECONDS = 10.0
API_LOOK_SECONDS = 2.0
"""Between two looks whether an API is there."""


class RedisChannel:
    """One attempt's line. Asks the broker only when it is used."""

    def __init__(self, attempt_id: UUID, *, patience: float = 10.0) -> None:
        """Takes nothing from the broker yet.

        Args:
            attempt_id: whose line it is.
            patience: seconds that the broker may be away.
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
        """See the port. With the broker away it is offered as soon as it is back, while somebody waits in `take`."""
        picture = observation.picture
        head = {**_head(observation), **details}
        with self._lock:
            if not self._closed.is_set():
                self._shown = observation.index, head, picture.data if picture else b"", observation.a11y_tree or ""
                self._put(again=False)

    def take(self, seconds: float) -> Mapping[str, Any] | None:
        """See the port."""
        with self._lock:
            deadline = time.monotonic() + seconds
            while not self._waiting:
                if self._closed.is_set():
                    raise ClusterLost("the line was closed: the attempt is over", code="agent_channel_down")
                left = max(0.0, deadline - time.monotonic())
                self._renew()
                there = self._fetch(min(left, LOOK_SECONDS))
                self._note(there=there)
                if not there:
                    self._closed.wait(min(left, LOOK_SECONDS))
                if not self._waiting and left <= 0:
                    return None
            return self._waiting.popleft()

    def present(self) -> bool:
        """See the port."""
        return agent_channel_store.heard(self._attempt_id)

    def held_seconds(self) -> float:
        """See the port."""
        return self._outages.seconds()

    def unheard(self) -> str:
        """See the port."""
        why = self._outages.unheard
        return f"{why}, or was, and who acts from outside was not heard of since" if why else ""

    def close(self) -> None:
        """See the port."""
        self._closed.set()
        with self._lock:
            if self._shown is not None:
                self._shown = None
                agent_channel_store.forget_seen(self._attempt_id)

    def _put(self, *, again: bool) -> None:
        if self._shown is not None:
            put = agent_channel_store.put_seen(self._attempt_id, *self._shown, again=again)
            self._renew_at = time.monotonic() + (RENEW_SECONDS if put else 0.0)
            self._forgotten = self._forgotten and not put

    def _renew(self) -> None:
        """Keeps the observation there while somebody thinks about it, and brings it back if the broker forgot it."""
        if time.monotonic() < self._renew_at or self._shown is None:
            return
        # After an outage it may be there, and an answer that was given to it may not.
        if not self._forgotten and agent_channel_store.keep_seen(self._attempt_id, self._shown[0]):
            self._renew_at = time.monotonic() + RENEW_SECONDS
        else:
            self._put(again=True)

    def _fetch(self, seconds: float) -> bool:
        """Takes over what has come. False while the broker is away."""
        rows = agent_channel_store.next_said(self._attempt_id, self._last, seconds)
        if rows is None:  # A broker that comes back may have forgotten all.
            self._renew_at, self._forgotten = 0.0, True
        elif rows:
            self._outages.heard()
        for number, body in rows or ():
            self._last = number
            message = _read(body)
            if message is not None:
                self._waiting.append(message)
        return rows is not None

    def _note(self, *, there: bool) -> None:
        """Notes what keeps who acts from acting. Raises ClusterLost: it lasts too long."""
        if there and time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + API_LOOK_SECONDS
            self._api_there = agent_channel_store.api_there()
            # One of an older release says nothing of itself.
            self._api_known = self._api_known or self._api_there
            if self._outages.unheard and self._api_there and self.present():
                self._outages.heard()
        away = API if self._api_known and not self._api_there else ""
        if self._outages.note(away if there else BROKER) and there:
            agent_channel_store.forget_heard(self._attempt_id)


def _read(body: bytes) -> Mapping[str, Any] | None:
    """A message; None for what no API of ours wrote."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        message = None
    if isinstance(message, dict):
        return message
    logger.warning("a message that is no JSON object was left aside")
    return None


def _head(observation: Observation) -> dict[str, Any]:
    """What is known of an observation, without picture and tree."""
    picture = observation.picture
    return {
        "index": observation.index,
        "note": observation.note,
        "media_type": picture.media_type if picture else "",
        "width": picture.width if picture else 0,
        "height": picture.height if picture else 0,
        "windows": [one.model_dump(mode="json") for one in observation.windows]
        if observation.windows is not None
        else None,
        "clipboard": observation.clipboard,
        "terminal": observation.terminal,
        "marks": [one.model_dump(mode="json") for one in observation.marks] if observation.marks is not None else None,
        "view": observation.view.model_dump(mode="json") if observation.view is not None else None,
        "has_tree": observation.a11y_tree is not None,
    }
