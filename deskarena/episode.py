"""An open run on a service, and its episodes one after the other, for environments."""

import base64
import glob
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from deskarena.client import Client
from deskarena.errors import AttemptLost, EpisodeLost, NotRunnable, ServiceError

WAIT = 30
TEXTS = ("note", "accessibility_tree", "terminal", "clipboard", "windows")
"""Parts of an observation beside its picture; empty where the run does not show them."""
RESULT = ("score", "solved", "outcome", "ended_by", "steps")
"""Fields of its verdict that an agent learns."""


def run_request(  # noqa: PLR0913 - what a run is made of
    benchmark: str,
    *,
    run_name: str,
    label: str,
    provider: str,
    observation: str,
    screen_size: tuple[int, int],
    max_steps: int,
    max_seconds: float,
) -> dict[str, Any]:
    """Body of POST /runs for an agent that acts through the client.

    Args:
        benchmark: its name on the service.
        run_name: of the run.
        label: name and version of the agent, which identify it on leaderboards.
        provider: kind of desktop.
        observation: what the agent sees.
        screen_size: width and height in pixels.
        max_steps: of an episode.
        max_seconds: likewise.
    """
    width, height = screen_size
    return {
        "benchmark": benchmark,
        "name": run_name,
        "params": {"label": label},
        "provider": provider,
        "observation": observation,
        "screen": {"width": width, "height": height},
        "budget": {"max_steps": max_steps, "max_seconds": max_seconds},
    }


@dataclass(frozen=True)
class Observation:
    """One observation.

    Attributes:
        index: number of the step, from 0.
        attempt: number of the attempt, from 1.
        details: the service's data for the agent (`instruction`, `note`, `max_steps`, `accessibility_tree`, `terminal`,
            ...).
        picture: encoded bytes; empty if the run shows none.
        media_type: of the picture.
    """

    index: int
    attempt: int
    details: Mapping[str, Any]
    picture: bytes
    media_type: str


class Episode:
    """One episode, acted in by its own token."""

    def __init__(self, client: Client, episode_id: str, task: str, *, patience: float) -> None:
        """Takes the episode's token.

        Args:
            client: with the service's token.
            episode_id: of a `remote` run.
            task: its key.
            patience: seconds to wait for a desktop, and for a verdict.
        """
        token = client.post(f"/episodes/{episode_id}/agent-token")["token"]
        self.id = episode_id
        self.task = task
        self.lost = False
        self._acting = True
        self._line = client.with_token(token)
        self._patience = patience
        self._observation: Observation | None = None

    def begin(self) -> Observation:
        """Waits for the first observation.

        Raises:
            EpisodeLost: there will be none.
            NotRunnable: none came in time.
        """
        self._observation, self.lost = None, False
        deadline = time.monotonic() + self._patience
        while time.monotonic() < deadline:
            observation = self._poll(-1, None)
            if observation is not None:
                return observation
        raise NotRunnable(f"no desktop became free within {self._patience:g} s", code="no_desktop")

    def act(self, answer: Mapping[str, Any]) -> Observation | None:
        """Answers the newest observation and waits for the next; None = the agent's part is over.

        Raises:
            AttemptLost: the desktop was lost; `begin` continues the episode on another one, `leave` gives it up.
            EpisodeLost: it was lost for good.
        """
        observation = self._now()
        self._answer(observation, answer)
        while True:
            latest = self._poll(observation.index, observation.attempt, wait_restart=False)
            if latest is None and not self._acting:
                return None
            if latest is not None and latest.attempt != observation.attempt:
                self.lost = True
                raise AttemptLost("the desktop was lost and another was prepared: reset with the same task")
            if latest is not None and latest.index == observation.index:
                self._answer(observation, answer)  # The service was broken off and has forgotten it.
            elif latest is not None:
                return latest

    def _answer(self, observation: Observation, answer: Mapping[str, Any]) -> None:
        try:
            self._line.post(
                "/agent/actions", {**answer, "index": observation.index, "attempt": observation.attempt}, repeat=True
            )
        except ServiceError as error:
            if error.status == HTTPStatus.CONFLICT:  # The desktop may have been lost before the answer came.
                episode = self._line.get("/agent")
                self._check(episode)
                self._check_lost(episode)
            raise

    def finish(self) -> dict[str, Any]:
        """Ends the agent's part, and waits for the verdict.

        Raises:
            AttemptLost: the desktop was lost before it.
            EpisodeLost: There is no verdict.
        """
        self._stop(waiting=False)
        self._check_lost(self._line.get("/agent"))
        deadline = time.monotonic() + self._patience
        while time.monotonic() < deadline:
            episode: dict[str, Any] = self._line.get("/agent", wait=WAIT)
            if episode["state"] == "scored":
                return episode
            self._check(episode)
            self._check_lost(episode)
            if episode["acting"] and episode["attempt"] != self._now().attempt:
                self.lost = True
                raise AttemptLost("the desktop was lost before the verdict: reset with the same task")
        raise EpisodeLost(f"no verdict arrived within {self._patience:g} s")

    def leave(self) -> None:
        """Ends the agent's part without waiting. An episode that never started ends at its time limit.

        An episode whose desktop was lost has no score.
        """
        self._stop(waiting=True)

    def close(self) -> None:
        self._line.close()

    def _stop(self, *, waiting: bool) -> None:
        """Ends the agent's part; `waiting`: also of an episode that waits for a restart."""
        try:
            if self._observation is not None:
                episode = self._line.get("/agent")
                if waiting if episode.get("awaits_restart") else episode["acting"] and not self.lost:
                    self._line.post("/agent/actions", self._end(self._observation), repeat=True)
        except ServiceError as error:
            # Its own end came first: nothing is left to be ended.
            if error.status != HTTPStatus.CONFLICT:
                raise

    def _end(self, observation: Observation) -> dict[str, Any]:
        return {"index": observation.index, "attempt": observation.attempt, "stop": "steps"}

    def _now(self) -> Observation:
        if self._observation is None:
            raise RuntimeError("call begin() first")
        return self._observation

    def _poll(self, after: int, attempt: int | None, *, wait_restart: bool = True) -> Observation | None:
        if wait_restart:
            self._line.post("/agent/attempts", repeat=True)
        query = {"after": after, "attempt": attempt, "wait": WAIT, "inline": True, "wait_restart": wait_restart}
        reply = self._line.get("/agent/observation", **query)
        episode, fields = reply["episode"], reply["observation"]
        self._acting = bool(episode["acting"])
        if fields is None:
            self._check(episode)
            if not wait_restart:
                self._check_lost(episode)
            return None
        picture, media_type = (b"", "")
        if fields["picture"]:
            picture, media_type = self._picture(fields["picture"])
        self._observation = Observation(fields["index"], episode["attempt"], fields, picture, media_type)
        return self._observation

    def _picture(self, picture: dict[str, Any]) -> tuple[bytes, str]:
        data = picture.pop("data", None)
        if data is None:  # An older service without this request.
            return self._line.data(picture["url"])
        return base64.b64decode(data), str(picture["media_type"])

    def _check(self, episode: Mapping[str, Any]) -> None:
        """Raises EpisodeLost or NotRunnable where the episode has ended without a score."""
        if episode["state"] == "not_runnable":
            raise NotRunnable(f"{self.task} cannot run there: {episode['reason']}", code=episode["reason_code"])
        if episode["state"] in {"lost", "cancelled"}:
            reason = episode["reason"] or episode["failure_class"] or ""
            raise EpisodeLost(f"the episode is {episode['state']}: {reason}".rstrip(": "))

    def _check_lost(self, episode: Mapping[str, Any]) -> None:
        """Raises AttemptLost if the episode waits for a restart."""
        if episode.get("awaits_restart"):
            self.lost = True
            raise AttemptLost("the desktop was lost: reset with the same task to continue on another one")


class OpenRun:
    """A run to which episodes are added, created with the first one."""

    def __init__(
        self,
        client: Client,
        request: Mapping[str, Any],
        *,
        patience: float = 600.0,
        own: bool = False,
        run_id: str | None = None,
    ) -> None:
        """Sends no request yet.

        Args:
            client: of the service.
            own: the client is closed with the run.
            request: what POST /runs takes, without `agent`, `tasks` and `accepts_episodes`.
            patience: seconds to wait for a desktop, and for a verdict.
            run_id: of a run that is already open, for example in another process; None = a new one.
        """
        self.client = client
        self.id = run_id
        self._request = dict(request)
        self._patience = patience
        self._own = own

    @property
    def benchmark(self) -> str:
        return str(self._request["benchmark"])

    def episode(self, task: str) -> Episode:
        """A new episode of the task with that key.

        Raises:
            ServiceError: the service refuses it; the message has the reason.
        """
        if self.id is None:
            self._submit(tasks=[glob.escape(task)])
        else:
            self.client.post(f"/runs/{self.id}/episodes", {"tasks": [glob.escape(task)]})
        of_task = [one for one in self.client.items(f"/runs/{self.id}/episodes") if one["task"] == task]
        newest = max(of_task, key=lambda one: one["repeat"])
        if newest["state"] == "not_runnable":
            raise NotRunnable(f"{task} cannot run there: {newest['reason']}", code=newest["reason_code"])
        return Episode(self.client, newest["id"], task, patience=self._patience)

    def open(self) -> str:
        """Submits the run without episodes, unless it is open, and returns its id."""
        return self.id or self._submit(without_episodes=True)

    def _submit(self, **more: Any) -> str:
        body = {**self._request, "agent": "remote", "accepts_episodes": True, **more}
        self.id = str(self.client.post("/runs", body)["id"])
        return self.id

    def close(self) -> None:
        """Takes no further episodes into it. Safe to call twice."""
        if self.id is not None:
            self.client.post(f"/runs/{self.id}/close", repeat=True)
            self.id = None
        if self._own:
            self.client.close()
