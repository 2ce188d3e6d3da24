"""Takeover of an agent's episode by a person, over the broker. See `TakeoverControl` in `ports/agent.py`.

Messages use their own channel, so that those of an external agent and those of a person never mix: `{"hand": "who took
over", "actions": [typed Action as JSON]}`.
"""

import logging
import time
from uuid import UUID

from backend.domain.errors import Invalid
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Decision, Observation
from backend.domain.people.remote_input import in_words, read_hand
from backend.domain.ports.agent import AgentChannel
from backend.services.people import takeover_store
from worker.agents.redis_channel import RedisChannel

logger = logging.getLogger(__name__)


class TakeoverClient:
    """Takeover of one attempt. Polls the broker once per step until somebody takes over."""

    def __init__(self, attempt_id: UUID, screen: ScreenSize, line: AgentChannel | None = None) -> None:
        """Args: attempt_id: the attempt; screen: size in pixels; line: channel to the person, for tests."""
        self._attempt_id = attempt_id
        self._screen = screen
        self._line = line if line is not None else RedisChannel(takeover_store.hand_line(attempt_id))

    def is_active(self) -> bool:
        return bool(takeover_store.hand_of(self._attempt_id))

    def decide(self, observation: Observation, seconds: float) -> Decision | None:  # noqa: ARG002 - they see it live.
        """Takes the person's actions. Messages of an earlier takeover are dropped."""
        deadline = time.monotonic() + seconds
        while (remaining := deadline - time.monotonic()) > 0:
            message = self._line.take(remaining)
            if message is None or message.get("hand") != takeover_store.hand_of(self._attempt_id):
                continue
            try:
                actions = read_hand(message.get("actions"), self._screen, may_end=False)
            except Invalid as error:
                logger.info("takeover: message dropped: attempt %s: %s", self._attempt_id, error.message)
                continue
            return Decision(actions=actions, explanation=in_words(actions), by="person")
        return None
