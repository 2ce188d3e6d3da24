"""The API's end of the channel between an attempt and an external agent. Async; holds no session while it waits.

The worker's end, the keys in the broker and the message format are described in `worker/agents/redis_channel.py`.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any

from backend.domain.errors import Conflict, Unavailable
from backend.services import events
from backend.services.agents import agent_channel_store
from backend.services.agents.agent_channel_store import ReplyStatus, StoredObservation
from backend.services.agents.agent_tokens import Pass

LOOK_SECONDS = 0.25
"""Interval at which a waiting request reads the episode's state from Postgres."""
Look = Callable[[], Awaitable[Pass]]


async def newer(
    status: Pass, after: int, attempt: int | None, *, tree: bool = True, picture: bool = False
) -> StoredObservation | None:
    """The newest observation if it is later than step `after` of `attempt`, else None.

    If the answer to step `after` was lost with the broker's data, the worker offers that observation again, and it is
    returned.

    Args:
        status: current state of the episode.
        after: -1 = no observation so far.
        attempt: number of the attempt of `after`; None = that of `status`.
        tree: include the accessibility tree.
        picture: include the picture.
    """
    if status.attempt_id is None or not status.running:
        return None  # A dead worker's observation may still be in the broker.
    index = await agent_channel_store.latest_index(status.attempt_id)
    if index is None:
        return None
    known = index <= after and attempt in {None, status.attempt}
    if known and not (index == after and await agent_channel_store.is_forgotten(status.attempt_id, index)):
        return None
    return await agent_channel_store.latest_seen(status.attempt_id, tree=tree, picture=picture)


async def next_observation(
    look: Look, after: int, attempt: int | None, seconds: float, *, wait_restart: bool = True, **parts: bool
) -> tuple[Pass, StoredObservation | None]:
    """Waits for an observation later than `after`, for the end of the agent's part, or for the desktop's loss.

    If the answer to `after` was lost, that observation is returned again; see `newer`.

    Args:
        look: reads the episode from Postgres.
        after: see `newer`.
        attempt: see `newer`.
        seconds: maximum wait.
        wait_restart: also wait for another attempt while the episode is held, for example while its run is paused.
        parts: `tree`, `picture`: see `newer`.

    Raises:
        Unavailable: there is no broker.
    """
    status = await look()
    paused = status.awaits_restart and wait_restart
    if not agent_channel_store.has_broker():
        raise Unavailable(
            "no broker is configured, so external agents cannot act",
            code="broker_not_configured",
            hint="Set REDIS_URL, or use `deskarena up`.",
        )
    if status.attempt_id is not None:
        await agent_channel_store.mark_heard(status.attempt_id)
    observation = await newer(status, after, attempt, **parts)
    if observation is not None or seconds <= 0:
        return status, observation
    try:
        async with events.patience(seconds):
            while observation is None and status.acting and status.awaits_restart == paused:
                status, observation = await _until_change(look, status, after, attempt, **parts)
    except TimeoutError:
        pass
    return status, observation


async def _until_change(
    look: Look, status: Pass, after: int, attempt: int | None, **parts: bool
) -> tuple[Pass, StoredObservation | None]:
    """Returns on an observation, a new attempt, a held episode, or the end of the agent's part."""
    known, looked_at = status.attempt_id, time.monotonic()
    async with aclosing(agent_channel_store.subscribe_line(known or status.run_id, status.run_id)) as signs:
        async for run_too in signs:
            if known is not None:
                await agent_channel_store.mark_heard(known)
                if not status.running and await agent_channel_store.latest_index(known) is not None:
                    status, looked_at = await look(), time.monotonic()
            observation = await newer(status, after, attempt, **parts)
            if observation is not None:
                return status, observation
            if run_too and time.monotonic() - looked_at > LOOK_SECONDS:
                status, looked_at = await look(), time.monotonic()
                if status.attempt_id != known or not status.acting or status.awaits_restart:
                    break
    return status, None


async def give(status: Pass, index: int, attempt: int | None, message: Mapping[str, Any]) -> bool:
    """Sends an answer to step `index` to the worker, once.

    Args:
        status: current state of the episode.
        index: step of the observation that it answers.
        attempt: number of the intended attempt; None = the newest.
        message: see `worker/agents/redis_channel.py`; size checked by the caller.

    Returns:
        False if the same answer was sent before: nothing is performed twice.

    Raises:
        Conflict: no such observation is waiting for an answer, or it already has another answer.
        Unavailable: the broker is unavailable, or lost the attempt's data: the worker will offer the observation again.
    """
    if status.attempt_id is None or attempt not in {None, status.attempt}:
        raise Conflict(
            f"the episode is {status.state}: it is not waiting for an answer",
            code="episode_not_waiting",
            hint="Ask for an observation.",
        )
    waiting = await agent_channel_store.latest_index(status.attempt_id)
    await agent_channel_store.mark_heard(status.attempt_id)
    # An answer to another step can only be a repetition.
    fresh = status.running and index == waiting
    result = await agent_channel_store.say(status.attempt_id, str(index), message, fresh=fresh)
    if result is ReplyStatus.AWAY:
        raise Unavailable(
            "the broker is unavailable",
            code="broker_unavailable",
            hint="Post the same answer again: it is performed only once.",
        )
    if result is ReplyStatus.OTHER:
        raise Conflict(
            f"step {index} already has another answer",
            code="answer_already_given",
            hint="Ask for the next observation.",
        )
    if result is ReplyStatus.FULL:
        if waiting is None and status.running:
            # After a broker's restart the waiting step is known once the worker has sent it again.
            raise Unavailable(
                "the worker has not published a step yet",
                code="observation_not_ready",
                hint="Post the same answer again.",
            )
        raise Conflict(
            f"step {index} does not wait for an answer" + ("" if waiting is None else f", step {waiting} does"),
            code="step_not_waiting",
            hint="Ask for an observation and answer that one.",
        )
    return result is ReplyStatus.NEW


async def picture(status: Pass, index: int | None) -> StoredObservation:
    """The newest observation with its picture.

    Raises:
        Conflict: there is none now, or the newest is of another step.
        Unavailable: the broker is unavailable or has no observation of a running attempt: the worker will offer it
            again.
    """
    attempt = status.attempt_id
    picture = await agent_channel_store.latest_seen(attempt, picture=True) if attempt is not None else None
    if picture is None and status.running:
        raise Unavailable(
            "the worker has not published a step yet",
            code="observation_not_ready",
            hint="Ask again in a moment.",
        )
    if attempt is None or picture is None or not picture.picture:
        raise Conflict("there is no picture yet", code="picture_not_ready", hint="Ask for an observation first.")
    if index is not None and index != picture.index:
        raise Conflict(
            f"the newest picture is of step {picture.index}, not {index}",
            code="picture_outdated",
            hint="Ask for an observation.",
        )
    await agent_channel_store.mark_heard(attempt)
    return picture


async def until_over(look: Look, seconds: float) -> Pass:
    """The episode once it has ended, or its state after the given seconds."""
    status = await look()
    try:
        async with events.patience(seconds), aclosing(events.subscribe_run(status.run_id, 0)) as signs:
            async for _ in signs:
                status = await look()
                if status.over:
                    break
    except TimeoutError:
        pass
    return status
