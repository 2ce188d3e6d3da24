"""A person's mouse and keyboard, from the episode's page to its desktop.

The page sends JSON texts: `{"kind": "act", "n": 3, "actions": [typed Action]}`, `{"kind": "take_over"}`, `{"kind":
"hand_back"}`, `{"kind": "copy"}`. It receives `{"kind": "state", "in_control", "controlled", "step", "state"}` whenever
something changes, `{"kind": "rejected", "n", "code", "detail"}` for a rejected message, `{"kind": "clipboard", "text"}`
after `copy`, and a beat every 15 s. Size, rate and every action are validated here and again by the worker.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, WebSocket, WebSocketDisconnect

from backend.db.session import read_only
from backend.domain.errors import Invalid, Unavailable
from backend.domain.model.episode import AttemptState
from backend.domain.people.remote_input import read_hand
from backend.services import events
from backend.services.agents import agent_channel_store
from backend.services.agents.agent_channel_store import ReplyStatus
from backend.services.people import takeover, takeover_store
from backend.services.people.takeover import ControlledAttempt
from backend.web.dependencies import AppContext
from backend.web.socket_lifetime import BEAT, BEAT_SECONDS, ENDED, accept, over

router = APIRouter()
MOST_BYTES = 65_536
"""Maximum bytes of a message: a pasted text of 10,000 characters fits."""
BURST, RATE = 40.0, 20.0
"""Maximum burst of messages, and messages per second on average."""
KEEP_SECONDS = 2.0
Client = Annotated[str, Query(pattern="^[A-Za-z0-9-]{8,64}$")]


class Rejection(StrEnum):
    """Why a message was rejected."""

    INVALID_MESSAGE = "invalid_message"
    INVALID_ACTION = "invalid_action"
    RATE_LIMIT = "rate_limit"
    NOT_IN_CONTROL = "not_in_control"
    CONTROLLED_BY_OTHER = "controlled_by_other"
    UNAVAILABLE = "unavailable"
    NOT_READY = "not_ready"
    BROKER_UNAVAILABLE = "broker_unavailable"
    BUSY = "busy"
    NUMBER_REUSED = "number_reused"
    CLIPBOARD_UNREADABLE = "clipboard_unreadable"


DETAILS: Mapping[Rejection, str] = {
    Rejection.INVALID_MESSAGE: "Expected a JSON object with a known kind and a number n.",
    Rejection.RATE_LIMIT: "Too many messages. Wait a moment.",
    Rejection.NOT_IN_CONTROL: "Take over first.",
    Rejection.CONTROLLED_BY_OTHER: "Someone else is in control.",
    Rejection.UNAVAILABLE: "The desktop is not available yet.",
    Rejection.NOT_READY: "The desktop is not ready.",
    Rejection.BROKER_UNAVAILABLE: "The broker is not available. Try again.",
    Rejection.BUSY: "The desktop is still busy with earlier actions.",
    Rejection.NUMBER_REUSED: "The number n was used for another message.",
    Rejection.CLIPBOARD_UNREADABLE: "The clipboard of the desktop could not be read. Try again.",
}


def read_attempt(edge: AppContext, attempt_id: UUID) -> ControlledAttempt:
    """The attempt's current state, in its own transaction. Raises NotFound."""
    with read_only(edge.factory) as session:
        return takeover.controlled_attempt(session, attempt_id)


@router.websocket("/ws/attempts/{attempt_id}/control")
async def control(socket: WebSocket, attempt_id: UUID, client: Client) -> None:
    """See the module. `client`: the page's id, with which it stays in control over a reload."""
    edge: AppContext = socket.app.state.edge
    attempt = await accept(
        socket, lambda: asyncio.to_thread(read_attempt, edge, attempt_id), lambda attempt: attempt.live
    )
    if attempt is not None:
        await _TakeoverSession(socket, edge, attempt, client).run()


@dataclass
class _Allowance:
    """A token bucket of messages."""

    left: float = BURST
    at: float = 0.0

    def take(self) -> bool:
        now = time.monotonic()
        self.left = min(BURST, self.left + (now - self.at) * RATE) if self.at else BURST
        self.at = now
        if self.left < 1.0:
            return False
        self.left -= 1.0
        return True


class _TakeoverSession:
    """A page's connection while a person acts in an attempt."""

    def __init__(self, socket: WebSocket, edge: AppContext, attempt: ControlledAttempt, client: str) -> None:
        self._socket = socket
        self._edge = edge
        self._attempt = attempt
        self._client = client
        self._in_control = False
        self._holder = ""
        self._allowance = _Allowance()
        self._sending = asyncio.Lock()
        self._copying: asyncio.Task[None] | None = None

    async def run(self) -> None:
        if self._attempt.human or await takeover_store.holder(self._attempt.attempt_id) == self._client:
            await self._take_over()
        tasks = [asyncio.create_task(part()) for part in (self._listen, self._tell, self._keep, self._beat)]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await over(*tasks, *([self._copying] if self._copying is not None else []))

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            async with self._sending:
                await self._socket.send_text(BEAT)

    async def _listen(self) -> None:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text")
            if text is None or len(text.encode()) > MOST_BYTES:
                await self._socket.close(1009, "the message is too large, or no text")
                return
            await self._receive(text)

    async def _receive(self, text: str) -> None:
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            await self._reject(None, Rejection.INVALID_MESSAGE)
        elif not self._allowance.take():
            await self._reject(message.get("n"), Rejection.RATE_LIMIT)
        elif message.get("kind") == "act":
            await self._act(message)
        elif message.get("kind") == "copy":
            await self._copy(message.get("n"))
        elif message.get("kind") == "take_over":
            await self._take_over()
            await self._state()
        elif message.get("kind") == "hand_back" and not self._attempt.human:
            await takeover_store.give_hand(self._attempt.attempt_id, self._client)
            self._in_control, self._holder = False, ""
            await self._state()
        else:
            await self._reject(message.get("n"), Rejection.INVALID_MESSAGE)

    async def _act(self, message: dict[str, Any]) -> None:
        number = message.get("n")
        if not isinstance(number, int) or not 0 <= number < 2**31:
            await self._reject(None, Rejection.INVALID_MESSAGE)
        elif (rejection := self._rejection()) is not None:
            await self._reject(number, rejection)
        else:
            await self._pass_on(number, message.get("actions"))

    async def _copy(self, number: Any) -> None:
        """Sends the desktop's clipboard when it is there; other messages need not wait for it."""
        rejection = self._rejection()
        if rejection is None and self._copying is not None and not self._copying.done():
            rejection = Rejection.BUSY
        if rejection is not None:
            await self._reject(number, rejection)
        else:
            self._copying = asyncio.create_task(self._send_clipboard(number))

    async def _send_clipboard(self, number: Any) -> None:
        text = await events.read_clipboard(self._attempt.attempt_id)
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            if text is None:
                await self._reject(number, Rejection.CLIPBOARD_UNREADABLE)
            else:
                await self._send({"kind": "clipboard", "text": text})

    def _rejection(self) -> Rejection | None:
        if not self._in_control and self._holder:
            return Rejection.CONTROLLED_BY_OTHER
        if not self._in_control:
            return Rejection.UNAVAILABLE if self._attempt.human else Rejection.NOT_IN_CONTROL
        return None if self._attempt.state == AttemptState.RUNNING else Rejection.NOT_READY

    async def _pass_on(self, number: int, actions: Any) -> None:
        attempt = self._attempt
        try:
            checked = read_hand(actions, attempt.screen, may_end=attempt.human)
        except Invalid as error:
            await self._reject(number, Rejection.INVALID_ACTION, f"{error.path}: {error.message}"[:500])
            return
        body = {"hand": self._client, "by": "person", "actions": [action.model_dump(mode="json") for action in checked]}
        line = attempt.attempt_id if attempt.human else takeover_store.hand_line(attempt.attempt_id)
        result = await agent_channel_store.say(line, f"{self._client}:{number}", body)
        rejection = {
            ReplyStatus.AWAY: Rejection.BROKER_UNAVAILABLE,
            ReplyStatus.FULL: Rejection.BUSY,
            ReplyStatus.OTHER: Rejection.NUMBER_REUSED,
        }.get(result)
        if rejection is not None:
            await self._reject(number, rejection)

    async def _take_over(self) -> None:
        self._in_control = await takeover_store.take_hand(self._attempt.attempt_id, self._client)
        self._holder = self._client if self._in_control else await takeover_store.holder(self._attempt.attempt_id)

    async def _tell(self) -> None:
        """Sends the state after each new event of the run, and every 2 s; ends with the attempt."""
        async with aclosing(events.subscribe_run(self._attempt.run_id, 0)) as signs:
            async for _ in signs:
                with contextlib.suppress(Unavailable):
                    self._attempt = await asyncio.to_thread(read_attempt, self._edge, self._attempt.attempt_id)
                if not self._attempt.live:
                    await self._socket.close(ENDED, "the attempt has ended")
                    return
                await self._state()

    async def _keep(self) -> None:
        """Renews short-lived keys in the broker while the page is open.

        After an outage or a takeover by another page, a person who is the agent regains control as soon as it is free.
        """
        while True:
            if self._in_control or self._attempt.human or self._holder == self._client:
                await self._take_over()
            else:
                self._holder = await takeover_store.holder(self._attempt.attempt_id)
            if self._in_control:
                await events.mark_hurry(self._attempt.attempt_id)
                await agent_channel_store.mark_heard(self._attempt.attempt_id)
            await asyncio.sleep(KEEP_SECONDS)

    async def _state(self) -> None:
        attempt = self._attempt
        control = {"in_control": self._in_control, "controlled": bool(self._holder)}
        await self._send({"kind": "state", **control, "step": attempt.step, "state": attempt.state.value})

    async def _reject(self, number: Any, code: Rejection, detail: str = "") -> None:
        body = {"n": number if isinstance(number, int) else None, "code": code, "detail": detail or DETAILS[code]}
        await self._send({"kind": "rejected", **body})

    async def _send(self, message: dict[str, Any]) -> None:
        async with self._sending:
            await self._socket.send_json(message)
