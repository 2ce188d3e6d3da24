"""A program from outside: it acts in one episode after the other over the REST API, as its users' agents do."""

import logging
import time
from collections.abc import Callable
from threading import Event, Thread
from typing import TypeVar
from uuid import UUID

from deskarena.client import Client
from deskarena.episode import Episode
from deskarena.errors import AttemptLost, EpisodeLost, NotRunnable, ServiceError
from tools.chaos.stack import ChaosStack

AGENT = "remote"
LOOKS = 3
"""Steps in which it only looks."""
BUDGET = {"max_seconds": 240}
"""Less than a campaign's time for its last episodes, so that waiting in vain shows as a missing score."""
SECONDS = 240.0
Submit = Callable[[str, list[str]], UUID]
T = TypeVar("T")
logger = logging.getLogger(__name__)


class OutsideClient:
    """Answers an infeasible task with FAIL after some observations: an episode that times out scores 0."""

    def __init__(self, stack: ChaosStack, task: str, submit: Submit) -> None:
        """Starts nothing yet. Args: submit: makes a run of an agent with tasks."""
        self._client = Client(stack.url, "")
        self._task, self._submit = task, submit
        self._ended = Event()
        self._thread = Thread(target=self._run, name="outside", daemon=True)

    def start(self) -> None:
        """From now on, until `stop`."""
        self._thread.start()

    def stop(self) -> None:
        """Stops it; its current episode continues to its end."""
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join(SECONDS * 2)
        self._client.close()

    def _run(self) -> None:
        while not self._ended.wait(0.5):
            try:
                self.one()
            except (EpisodeLost, NotRunnable, ServiceError, TimeoutError):
                logger.exception("a program from outside ended before its episode")

    def one(self) -> None:
        """One episode, to its verdict: its desktop may be lost after the program's last answer, too.

        Raises:
            EpisodeLost: it was lost, or cancelled.
            NotRunnable: no desktop became free for it in all that time.
            ServiceError: it was refused.
            TimeoutError: there was no answer in that time.
        """
        run = self._submit(AGENT, [self._task])
        (row,) = _insist(lambda: self._client.get(f"/runs/{run}/episodes"))["items"]
        episode = _insist(lambda: Episode(self._client, row["id"], self._task, patience=SECONDS))
        try:
            while not self._acted(episode):
                pass  # Its desktop was lost: it requests another one and restarts.
        finally:
            episode.close()

    def _acted(self, episode: Episode) -> bool:
        """Whether it got a verdict on one desktop."""
        try:
            _insist(episode.begin)
            looks = (_insist(lambda: episode.act({"actions": [{"type": "WAIT"}]})) for _ in range(LOOKS))
            if all(looks):
                _insist(lambda: episode.act({"stop": "infeasible"}))
            _insist(episode.finish)
        except AttemptLost:
            return False
        return True


def _insist(call: Callable[[], T]) -> T:
    """Retries until there is an answer: every request is repeatable."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return call()
        except ServiceError as error:
            if error.status not in {0, 503}:
                raise
            if time.monotonic() > deadline:
                raise TimeoutError(f"the API did not answer in {SECONDS:g} s") from error
